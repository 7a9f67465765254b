"""The two modes of a split engine: runs of equal streams, told apart by the engine's own count of its steps.

With all streams in one batch an engine takes about one step for each token of a stream; with the streams in two
batches in flight it takes two, since a step then gives tokens to only a part of them. The bounds lie in the gap that
all recorded runs leave free: 80 to 98 steps for 80 tokens, or 160 and 161.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Annotated

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from experiment.measure.load import APART, MERGED, Mode, mode_by_steps

Count = Annotated[int, Field(ge=0)]
Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class CpuUse(_Part):
    """What the kernel counted for one pod during a run: quota periods, and times in seconds where they are known.

    Without a quota the kernel counts no periods.
    """

    periods: Count
    throttled: Count
    throttled_s: Amount | None = None
    cpu_s: Amount | None = None


class LoadRun(_Part):
    """One run of equal streams on an otherwise idle engine, and what came of it.

    Attributes:
        engine: what it ran on, for people.
        simulated: whether that is the stand-in.
        machine: for people.
        setting: what was varied, "" if nothing was.
        at: when it began, if that is known.
        streams: how many.
        stagger_ms: milliseconds from one stream's start to the next's.
        tokens: output tokens of each stream.
        steps: engine steps that gave tokens, by the change of `vllm:iteration_tokens_total_count`.
        gap_ms: median time between two tokens of a stream, over all streams, in milliseconds.
        low_ms: the least of the streams' own medians, if it was kept.
        high_ms: the greatest of them.
        tokens_per_s: output tokens of all streams over the time from the first start to the last token.
        pods: what each pod used, by its role.
    """

    engine: str
    simulated: bool
    machine: str
    setting: str = ""
    at: AwareDatetime | None = None
    streams: Annotated[int, Field(ge=1)]
    stagger_ms: Count
    tokens: Annotated[int, Field(ge=2)]
    steps: Count
    gap_ms: Amount
    low_ms: Amount | None = None
    high_ms: Amount | None = None
    tokens_per_s: Amount
    pods: dict[str, CpuUse] = Field(default_factory=dict)

    @property
    def steps_per_token(self) -> float:
        """Engine steps for each token of one stream."""
        return self.steps / self.tokens

    @property
    def mode(self) -> Mode | None:
        """`MERGED`, `APART`, or None if it is neither."""
        return mode_by_steps(self.steps_per_token)


def read(path: Path) -> list[LoadRun]:
    """Return the runs of a file, one JSON object a line; a last line that was cut off by a kill is left out.

    A file that is not there holds no run.

    Raises:
        ValueError: a whole line is no run.
    """
    if not path.exists():
        return []
    *whole, _ = path.read_text().split("\n")
    return [LoadRun.model_validate(json.loads(line)) for line in whole]


STAGGERS: Mapping[str, range] = {"together": range(1), "10 ms": range(1, 30), "30 ms and more": range(30, 100_000)}
"""Classes of stagger, in milliseconds, within which arrival decides alike."""


def share(runs: Iterable[LoadRun], staggers_ms: range) -> tuple[int, int]:
    """Return how many runs of several streams, staggered within the range, stayed apart, and of how many."""
    there = [run for run in runs if run.stagger_ms in staggers_ms and run.streams > 1]
    return sum(run.mode == APART for run in there), len(there)


def shares_table(engines: Mapping[str, Sequence[LoadRun]]) -> str:
    """Return, in Markdown, how many runs of each class of stagger stayed apart on each engine."""
    lines = ["| started | " + " | ".join(engines) + " |", "|---|" + "---|" * len(engines)]
    for label, staggers in STAGGERS.items():
        cells = (share(runs, staggers) for runs in engines.values())
        lines.append(f"| {label} | " + " | ".join(f"{apart} of {of}" for apart, of in cells) + " |")
    return "\n".join(lines)


def clusters_table(engines: Mapping[str, Sequence[LoadRun]]) -> str:
    """Return, in Markdown, the two clusters of each engine: steps per token, and time per token by streams."""
    lines = ["| engine | mode | runs | steps per token | streams: median time per token |", "|---|---|---|---|---|"]
    for name, runs in engines.items():
        for mode in (MERGED, APART):
            of_mode = [run for run in runs if run.mode == mode]
            if not of_mode:
                lines.append(f"| {name} | {mode} | 0 | - | - |")
                continue
            steps = [run.steps_per_token for run in of_mode]
            lines.append(
                f"| {name} | {mode} | {len(of_mode)} | {min(steps):.2f} to {max(steps):.2f} | {_by_streams(of_mode)} |"
            )
        if neither := sum(run.mode is None for run in runs):
            lines.append(f"| {name} | neither | {neither} | | |")
    return "\n".join(lines)


def slowdowns(runs: Sequence[LoadRun]) -> dict[int, float]:
    """Return, by the number of streams, how many times slower the merged mode is: of the median times per token."""
    found = {}
    for streams in sorted({run.streams for run in runs}):
        merged, apart = (
            [run.gap_ms for run in runs if run.streams == streams and run.mode == mode] for mode in (MERGED, APART)
        )
        if merged and apart:
            found[streams] = median(merged) / median(apart)
    return found


def slowdowns_table(engines: Mapping[str, Sequence[LoadRun]]) -> str:
    """Return, in Markdown, how many times slower merged streams are than ones apart, by the number of streams."""
    found = {name: slowdowns(runs) for name, runs in engines.items()}
    streams = sorted({number for of_one in found.values() for number in of_one})
    lines = ["| streams | " + " | ".join(engines) + " |", "|---|" + "---|" * len(engines)]
    for number in streams:
        cells = (of_one.get(number) for of_one in found.values())
        lines.append(f"| {number} | " + " | ".join("-" if cell is None else f"{cell:.2f}" for cell in cells) + " |")
    return "\n".join(lines)


def _by_streams(runs: Sequence[LoadRun]) -> str:
    streams = sorted({run.streams for run in runs})
    medians = ((number, median(run.gap_ms for run in runs if run.streams == number)) for number in streams)
    return ", ".join(f"{number}: {gap:.0f} ms" for number, gap in medians)
