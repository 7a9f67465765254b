"""Loads of equal streams, which bring a split server into one of its two modes, and what comes of them."""

import asyncio
import json
import random
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from rehearsal.vllm import counters
from rehearsal.vllm.server import LOOPBACK, SERVED_NAME
from rehearsal.vllm.wire import Answer, Question, ask
from report.modes import LoadRun

TOKENS = 80

_STEPS = "vllm:iteration_tokens_total_count"
_PROMPT_TOKENS = 32
_REST_S = 0.5


@dataclass(frozen=True)
class Load:
    """So many equal streams of `tokens` tokens, each started so much after the one before."""

    streams: int
    stagger_ms: int
    tokens: int = TOKENS


@dataclass(frozen=True)
class Target:
    """A server that is otherwise idle.

    Attributes:
        engine: what it is, for people.
        simulated: whether it is the stand-in.
        machine: where it runs, for people.
        port: where it listens.
        host: its address.
        model: the name under which it serves.
        headers: that every request has.
    """

    engine: str
    simulated: bool
    machine: str
    port: int
    host: str = LOOPBACK
    model: str = SERVED_NAME
    headers: Sequence[tuple[str, str]] = ()


def loads(seed: int) -> list[Load]:
    """Return 40 loads as they were recorded, in an order of their own: 18 together, 8 nearly so, 14 spread out."""
    found = [Load(streams, 0) for streams in (3, 4, 6) for _ in range(5)] + [Load(8, 0)] * 3
    found += [Load(streams, 10) for streams in (3, 4, 6, 8) for _ in range(2)]
    found += [Load(streams, stagger) for streams in (3, 4, 6, 8) for stagger in (30, 60, 100)]
    found += [Load(4, 500), Load(8, 200)]
    random.Random(f"modes/{seed}").shuffle(found)  # noqa: S311  reproducible on purpose; no secret
    return found


async def run(target: Target, load: Load, seed: str, setting: str = "") -> LoadRun:
    """Put a load on a server; the prompts follow from the seed.

    Raises:
        OSError: it did not answer, or not to the end.
        TimeoutError: a stream did not end in ten minutes.
    """
    dice = random.Random(seed)  # noqa: S311
    questions = [_question(dice, target, load, number) for number in range(load.streams)]
    before = await _steps(target)
    at = datetime.now(UTC)
    clock = asyncio.get_running_loop().time
    start = clock()

    async def stream(number: int) -> Answer:
        due = start + number * load.stagger_ms / 1000
        await asyncio.sleep(max(0.0, due - clock()))
        answer = await ask(target.port, questions[number], target.host)
        if len(answer.at_s) < load.tokens:
            raise OSError(
                f"{questions[number].name}: {answer.status}, {len(answer.at_s)} chunks: {answer.body[:200]!r}"
            )
        return answer

    answers = await asyncio.gather(*(stream(number) for number in range(load.streams)))
    await asyncio.sleep(_REST_S)
    steps = round(await _steps(target) - before)
    gaps = [[b - a for a, b in zip(answer.at_s, answer.at_s[1:], strict=False)] for answer in answers]
    medians = [1000 * statistics.median(of_one) for of_one in gaps]
    end = max(answer.at_s[-1] for answer in answers)
    return LoadRun(
        engine=target.engine,
        simulated=target.simulated,
        machine=target.machine,
        setting=setting,
        at=at,
        streams=load.streams,
        stagger_ms=load.stagger_ms,
        tokens=load.tokens,
        steps=steps,
        gap_ms=round(1000 * statistics.median(gap for of_one in gaps for gap in of_one), 2),
        low_ms=round(min(medians), 2),
        high_ms=round(max(medians), 2),
        tokens_per_s=round(load.streams * load.tokens / (end - start), 2),
    )


def line(found: LoadRun) -> str:
    """Write a run in the form of the recording."""
    pods = "".join(f" {role} throttled ({use.throttled}, {use.periods})" for role, use in found.pods.items())
    return (
        f"n={found.streams} stagger={found.stagger_ms}ms median gap {found.gap_ms:.1f} "
        f"(min {found.low_ms or 0:.1f} max {found.high_ms or 0:.1f}) tok/s {found.tokens_per_s:.1f} "
        f"steps {found.steps} {found.mode or 'neither'}{pods}"
    )


def _question(dice: random.Random, target: Target, load: Load, number: int) -> Question:
    body = {
        "model": target.model,
        "prompt": [dice.randrange(1000, 31_000) for _ in range(_PROMPT_TOKENS)],
        "max_tokens": load.tokens,
        "min_tokens": load.tokens,
        "ignore_eos": True,
        "temperature": 0,
        "stream": True,
    }
    return Question(f"stream {number}", "POST", "/v1/completions", json.dumps(body).encode(), target.headers)


async def _steps(target: Target) -> float:
    answer = await ask(target.port, Question("metrics", "GET", "/metrics"), target.host)
    series = counters.parse(answer.body.decode())
    return sum(value for name, value in series.items() if name.startswith(_STEPS))
