"""What the records of a directory say, in a few figures a test; nothing is pooled that was not measured alike."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import median
from typing import Self

from pydantic import BaseModel, ConfigDict, JsonValue, ValidationError

from experiment.record import Engine, RepeatRecord, SessionRecord, parse_record


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Spread(_Part):
    """Median and range of what the repeats measured."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Iterable[float | None]) -> Self | None:
        """Return the spread of the values that exist, or nothing if none does."""
        known = [value for value in values if value is not None]
        return cls(median=median(known), low=min(known), high=max(known)) if known else None


class TestSummary(_Part):
    """One test of one run and plan against one engine; seconds, and tokens per second of one request."""

    __test__ = False  # not a test of pytest's

    run: str
    plan_hash: str
    test: str
    shape_hash: str
    prompt_tokens: int
    output_tokens: int
    topology: dict[str, JsonValue] | None
    engine: Engine
    simulated: bool
    repeats: int
    failed: int
    ttft_s: Spread | None
    tpot_s: Spread | None
    longest_gap_s: Spread | None
    tokens_per_s: Spread | None


class Unreadable(_Part):
    """A file that is no record, and why."""

    path: Path
    reason: str


class Summary(_Part):
    """All tests found in a directory, under the label, on the nodes and with the remarks that the caller knows."""

    label: str
    nodes: tuple[str, ...]
    about: tuple[str, ...] = ()
    directory: Path
    tests: tuple[TestSummary, ...]
    unreadable: tuple[Unreadable, ...]

    @property
    def simulated(self) -> bool:
        """Whether any figure comes from the stand-in engine."""
        return any(test.simulated for test in self.tests)


def read(directory: Path, *, label: str, nodes: Sequence[str] = (), about: Sequence[str] = ()) -> Summary:
    """Summarise the records in a directory and below it.

    A file that is no whole record of this version is named in `unreadable` and otherwise left out; a directory that
    is not there holds no record. Repeats are taken together only where run, plan, test, prompt shape, topology and
    engine (all but its address) agree.
    """
    groups: dict[str, list[RepeatRecord]] = defaultdict(list)
    unreadable = []
    for path in sorted(directory.rglob("*.json")):
        try:
            record = parse_record(path.read_bytes())
        except (OSError, ValidationError) as error:
            unreadable.append(Unreadable(path=path, reason=_reason(error)))
            continue
        if not isinstance(record, SessionRecord) and path.parent.name not in ("partial", "disturbed"):
            groups[_alike(record)].append(record)
    return Summary(
        label=label,
        nodes=tuple(nodes),
        about=tuple(about),
        directory=directory,
        tests=tuple(_summarise(group) for group in groups.values()),
        unreadable=tuple(unreadable),
    )


def _alike(record: RepeatRecord) -> str:
    same = record.model_dump_json(include={"run", "plan_hash", "test", "cell", "prompt", "topology"})
    return same + record.engine.model_dump_json(exclude={"url"})


def _summarise(records: Sequence[RepeatRecord]) -> TestSummary:
    first = records[0]
    finished = [record for record in records if record.result == "finished"]
    figures = [reply.figures for record in finished for reply in record.replies]
    return TestSummary(
        run=first.run,
        plan_hash=first.plan_hash,
        test=first.cell,
        shape_hash=first.prompt.shape_hash,
        prompt_tokens=first.prompt.prompt_tokens,
        output_tokens=first.prompt.output_tokens,
        topology=first.topology,
        engine=first.engine,
        simulated=first.engine.simulated,
        repeats=len(finished),
        failed=len(records) - len(finished),
        ttft_s=Spread.of(figure.ttft_s for figure in figures),
        tpot_s=Spread.of(figure.tpot_s for figure in figures),
        longest_gap_s=Spread.of(figure.longest_gap_s for figure in figures),
        tokens_per_s=Spread.of(figure.tokens_per_s for figure in figures),
    )


def _reason(error: OSError | ValidationError) -> str:
    if isinstance(error, OSError):
        return error.strerror or str(error)
    first = error.errors(include_url=False)[0]
    return ": ".join(part for part in (".".join(str(step) for step in first["loc"]), first["msg"]) if part)
