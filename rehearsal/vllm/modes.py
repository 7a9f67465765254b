"""The two modes of a split server: equal streams that merge into one batch, or stay apart in two.

Engine steps per token tell them apart: about one if all streams are in one batch, about two if they are in two, since
a step then gives tokens to only a part of them.
"""

import asyncio
import json
import random
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass

from rehearsal.vllm import counters
from rehearsal.vllm.server import SERVED_NAME
from rehearsal.vllm.wire import Answer, Question, ask

TOKENS = 80
MERGED, APART = "merged", "apart"

_STEPS = "vllm:iteration_tokens_total_count"
_PROMPT_TOKENS = 32
_REST_S = 0.5
# Bounds of steps per token, as recorded: 80 to 98 steps for 80 tokens, or 160 and 161.
_MERGED_AT_MOST, _APART_AT_LEAST = 1.3, 1.8


@dataclass(frozen=True)
class Load:
    """So many equal streams, each started so much after the one before."""

    streams: int
    stagger_ms: int


@dataclass(frozen=True)
class Run:
    """What came of a load: engine steps, tokens a stream, and the median gap between two tokens."""

    load: Load
    steps: int
    gap_ms: float

    @property
    def steps_per_token(self) -> float:
        """Engine steps for each token of one stream."""
        return self.steps / TOKENS

    @property
    def mode(self) -> str | None:
        """`MERGED`, `APART`, or None if it is neither."""
        if self.steps_per_token <= _MERGED_AT_MOST:
            return MERGED
        return APART if self.steps_per_token >= _APART_AT_LEAST else None

    def line(self) -> str:
        """Return it in the form of the recording."""
        return (
            f"n={self.load.streams} stagger={self.load.stagger_ms}ms median gap {self.gap_ms:.1f} "
            f"steps {self.steps} {self.mode or 'neither'}"
        )


def loads(seed: int) -> list[Load]:
    """Return 40 loads as they were recorded, in an order of their own: 18 together, 8 nearly so, 14 spread out."""
    found = [Load(streams, 0) for streams in (3, 4, 6) for _ in range(5)] + [Load(8, 0)] * 3
    found += [Load(streams, 10) for streams in (3, 4, 6, 8) for _ in range(2)]
    found += [Load(streams, stagger) for streams in (3, 4, 6, 8) for stagger in (30, 60, 100)]
    found += [Load(4, 500), Load(8, 200)]
    random.Random(f"modes/{seed}").shuffle(found)  # noqa: S311  reproducible on purpose; no secret
    return found


async def run(port: int, load: Load, seed: str, headers: Sequence[tuple[str, str]] = ()) -> Run:
    """Put a load on a server that is otherwise idle."""
    dice = random.Random(seed)  # noqa: S311
    questions = [_question(dice, number, headers) for number in range(load.streams)]
    before = await _steps(port)
    start = time.monotonic()

    async def stream(number: int) -> Answer:
        due = start + number * load.stagger_ms / 1000
        await asyncio.sleep(max(0.0, due - time.monotonic()))
        return await ask(port, questions[number])

    answers = await asyncio.gather(*(stream(number) for number in range(load.streams)))
    await asyncio.sleep(_REST_S)
    gaps = [b - a for answer in answers for a, b in zip(answer.at_s, answer.at_s[1:], strict=False)]
    return Run(load, round(await _steps(port) - before), 1000 * statistics.median(gaps))


def share(runs: Sequence[Run], staggers_ms: range) -> tuple[int, int]:
    """Return how many runs staggered within the range stayed apart, and of how many."""
    there = [one for one in runs if one.load.stagger_ms in staggers_ms]
    return sum(one.mode == APART for one in there), len(there)


def _question(dice: random.Random, number: int, headers: Sequence[tuple[str, str]]) -> Question:
    body = {
        "model": SERVED_NAME,
        "prompt": [dice.randrange(1000, 31_000) for _ in range(_PROMPT_TOKENS)],
        "max_tokens": TOKENS,
        "min_tokens": TOKENS,
        "ignore_eos": True,
        "temperature": 0,
        "stream": True,
    }
    return Question(f"stream {number}", "POST", "/v1/completions", json.dumps(body).encode(), headers)


async def _steps(port: int) -> float:
    answer = await ask(port, Question("metrics", "GET", "/metrics"))
    series = counters.parse(answer.body.decode())
    return sum(value for name, value in series.items() if name.startswith(_STEPS))
