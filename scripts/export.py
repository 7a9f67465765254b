"""`splitbed export`: results in the forms of other tools."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import typer
import yaml

from experiment.errors import SplitbedError
from experiment.printable import printable
from experiment.record import RepeatRecord
from report.export.flat import tables
from report.export.parquet import to_parquet
from report.export.repeat import file_name, report_of
from report.verdict.reading import LeftOut, Named, contents, unfit
from scripts.wholefile import put

INTO = Path("export")


class Format(StrEnum):
    """What is written."""

    LLMD = "llm-d"
    CSV = "csv"
    PARQUET = "parquet"


@dataclass(frozen=True)
class Found:
    """Repeats in the order of measuring, and what is left out, with the reason."""

    records: Sequence[RepeatRecord]
    left: Sequence[LeftOut]


def export(
    results: Annotated[list[Path], typer.Argument(metavar="RESULT...", help="Directories of records, or files.")],
    into: Annotated[Path, typer.Option("--to", metavar="DIR", help="Where to write, over what is there.")] = INTO,
    formats: Annotated[
        list[Format] | None,
        typer.Option(
            "--format",
            help="llm-d: its benchmark report v0.2, one YAML file a repeat; csv, parquet: a table each of repeats, "
            "requests and pods. May be given again. Default: llm-d and csv.",
        ),
    ] = None,
    everything: Annotated[
        bool,
        typer.Option("--all", help="Also repeats that failed, were disturbed, or limited by the client; marked so."),
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be written; nothing is.")] = False,
    json_output: Annotated[bool, typer.Option("--json", help="Print what was done as JSON.")] = False,
) -> None:
    """Write results as llm-d's benchmark report and as flat tables; the records themselves stay as they are.

    Ends with 0 if something was written, with 2 if there is nothing that could be.
    """
    found = _found(results, everything=everything)
    if not found.records:
        reasons = "; ".join(f"{one.what}: {one.why}" for one in found.left[:3])
        raise SplitbedError(
            f"{', '.join(map(str, results))}: no repeat is fit to be exported{f' ({reasons})' if reasons else ''}.",
            "Give --all to have those too that failed or were disturbed, marked so.",
        )
    files = dict(_files(found.records, formats or (Format.LLMD, Format.CSV)))
    if not dry_run:
        for name, content in files.items():
            put(into / name, content)
    if json_output:
        left = [one.model_dump() for one in found.left]
        told = {"directory": str(into), "files": list(files), "repeats": len(found.records), "left_out": left}
        typer.echo(json.dumps(told | {"written": not dry_run}, indent=2))
        return
    for one in found.left:
        typer.echo(printable(f"left out: {one.what}: {one.why}"), err=True)
    done = "would be written to" if dry_run else "written to"
    typer.echo(f"{len(found.records)} repeats: {len(files)} files {done} {into}")


def _found(places: Iterable[Path], *, everything: bool) -> Found:
    left: list[LeftOut] = []
    records: dict[tuple[str, str, str, int, str, str], RepeatRecord] = {}
    for place in places:
        for path, content in contents(Named(place), left):
            if not isinstance(content, RepeatRecord):
                left.append(LeftOut(topology="", what=str(path), why="it was typed off a source, and has no requests"))
                continue
            what = f"run {content.run}, {content.cell} {content.repeat}"
            if (why := unfit(path, content)) is not None and not everything:
                left.append(LeftOut(topology="", what=what, why=why))
                continue
            key = (content.run, content.plan_hash, content.cell, content.repeat, content.result)
            records[*key, content.started_at.isoformat()] = content
    return Found(sorted(records.values(), key=lambda record: record.started_at), left)


def _files(records: Sequence[RepeatRecord], formats: Iterable[Format]) -> Iterator[tuple[str, bytes]]:
    for wanted in dict.fromkeys(formats):
        if wanted is Format.LLMD:
            yield from _reports(records)
            continue
        for table in tables(records):
            content = table.to_csv().encode() if wanted is Format.CSV else to_parquet(table)
            yield f"{table.name}.{wanted.value}", content


def _reports(records: Sequence[RepeatRecord]) -> Iterator[tuple[str, bytes]]:
    ours = version("splitbed")
    stages: dict[tuple[str, str], dict[str, int]] = defaultdict(dict)
    taken: dict[str, int] = defaultdict(int)
    for record in records:
        cells = stages[record.run, record.plan_hash]
        stage = cells.setdefault(record.cell, len(cells))
        report = report_of(record, stage, ours).to_dict()
        name = file_name(record)
        taken[name] += 1
        if taken[name] > 1:  # of one repeat that was tried several times
            name = name.replace(".yaml", f"-{taken[name]}.yaml")
        yield name, yaml.safe_dump(report, sort_keys=False, allow_unicode=True).encode()
