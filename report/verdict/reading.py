"""Result directories and files, as the benchmark, a rehearsal or a person left them."""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from pydantic import JsonValue, ValidationError

from experiment.errors import SplitbedError
from experiment.measure.part import Part
from experiment.record import RepeatRecord, SessionRecord, parse_record
from report.verdict.typed import TypedCell, TypedResult


class LeftOut(Part):
    """What is in no figure, and why."""

    topology: str
    what: str
    why: str


@dataclass(frozen=True)
class Run:
    """One deployment measured once by a plan: the unit of analysis."""

    label: str
    name: str
    started_at: datetime
    records: tuple[RepeatRecord, ...] = ()
    typed: tuple[TypedCell, ...] = ()
    about: TypedResult | None = None


@dataclass(frozen=True)
class Arm:
    """All runs of one topology, in the order in which they were measured."""

    label: str
    runs: tuple[Run, ...]


@dataclass(frozen=True)
class Reading:
    """Topologies in the order in which they were named; what cannot be read or used."""

    arms: tuple[Arm, ...]
    left_out: tuple[LeftOut, ...]


@dataclass(frozen=True)
class Named:
    """A place of results, and the label that its topology is to have; None leaves it to the records."""

    path: Path
    label: str | None = None


def read(places: Sequence[Named]) -> Reading:
    """Read all results; one run found in two places counts once.

    Raises:
        SplitbedError: a place is not there or holds no result.
    """
    runs: dict[str, dict[str, list[RepeatRecord]]] = defaultdict(lambda: defaultdict(list))
    typed: dict[str, list[Run]] = defaultdict(list)
    order: list[str] = []
    left: list[LeftOut] = []
    seen: set[tuple[str | int | datetime, ...]] = set()
    for place in places:
        found = 0
        for path, content in contents(place, left):
            found += 1
            if isinstance(content, TypedResult):
                label = place.label or content.label
                typed[label].append(_typed_run(label, path, content))
            else:
                label = place.label or label_of(content.topology) or place.path.resolve().name
                key = (content.run, content.plan_hash, content.cell, content.repeat, content.result, content.started_at)
                if key in seen:
                    left.append(LeftOut(topology=label, what=str(path), why="it was read already"))
                    continue
                seen.add(key)
                if (why := unfit(path, content)) is not None:
                    what = f"run {content.run}, {content.cell} {content.repeat}"
                    left.append(LeftOut(topology=label, what=what, why=why))
                else:
                    runs[label][f"{content.run}/{content.plan_hash}"].append(content)
            order.append(label)
        if not found:
            raise SplitbedError(
                f"{place.path}: there is no result of a benchmark.", "Name the directory that holds its records."
            )
    arms = []
    for label in dict.fromkeys(order):
        measured = [_run(label, name, records) for name, records in runs[label].items()]
        whole = sorted([*measured, *typed[label]], key=lambda run: run.started_at)
        arms.append(Arm(label, tuple(whole)))
    return Reading(tuple(arms), tuple(left))


def label_of(topology: Mapping[str, JsonValue] | None) -> str | None:
    """Return a topology in words, its sizes included; None if the client was not told of it."""
    if topology is None or "kind" not in topology:
        return None
    sizes = ", ".join(f"{name} {size}" for name, size in topology.items() if name != "kind")
    return f"{topology['kind']} ({sizes})" if sizes else str(topology["kind"])


def contents(place: Named, left: list[LeftOut]) -> Iterator[tuple[Path, RepeatRecord | TypedResult]]:
    """Yield what lies at a place, in the order of the paths; what cannot be read is put to `left`.

    Raises:
        SplitbedError: there is nothing of that name.
    """
    if not place.path.exists():
        raise SplitbedError(f"{place.path}: there is no such file or directory.", "Name results of a benchmark.")
    paths = sorted(place.path.rglob("*.json")) if place.path.is_dir() else [place.path]
    for path in paths:
        try:
            content = _parsed(path)
        except (OSError, ValidationError, ValueError) as error:
            left.append(LeftOut(topology=place.label or "", what=str(path), why=_reason(error)))
            continue
        if not isinstance(content, SessionRecord):
            yield path, content


def _parsed(path: Path) -> RepeatRecord | SessionRecord | TypedResult:
    text = path.read_bytes()
    # Records are many and long: only what may be typed off is read twice.
    if b'"typed"' in text:
        outline = json.loads(text)
        if isinstance(outline, dict) and outline.get("kind") == "typed":
            return TypedResult.model_validate_json(text)
    return parse_record(text)


def _reason(error: OSError | ValueError) -> str:
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False)[0]
        if first["type"] == "json_invalid":
            return "it is not JSON"
        where = ".".join(str(step) for step in first["loc"])
        return f"it is no record: {where}: {first['msg']}" if where else f"it is no record: {first['msg']}"
    if isinstance(error, OSError):
        return error.strerror or str(error)
    return "it is not JSON"


def unfit(path: Path, record: RepeatRecord) -> str | None:
    """Say why a repeat enters no figure; None if it does."""
    if record.result == "partial":
        return "broken off"
    if record.result == "failed":
        return f"failed: {record.why}"
    if record.disturbed or path.parent.name == "disturbed":
        return f"disturbed: {'; '.join(record.disturbed) or 'it was put aside'}"
    if record.verdict is not None and record.verdict.client_limited:
        return f"the client was the limit: {'; '.join(record.verdict.reasons)}"
    return None


def _run(label: str, name: str, records: Sequence[RepeatRecord]) -> Run:
    ordered = tuple(sorted(records, key=lambda record: (record.started_at, record.cell, record.repeat)))
    return Run(label, name, ordered[0].started_at, records=ordered)


def _typed_run(label: str, path: Path, content: TypedResult) -> Run:
    return Run(label, path.stem, datetime.fromtimestamp(0, UTC), typed=content.cells, about=content)
