"""`splitbed fetch`: the records of a stack's benchmark, brought to this machine."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Annotated

import typer

from cloud.account import Account
from cloud.results import StoredResults, bucket_of
from experiment.benchmark import LocalResults, S3Results
from experiment.errors import SplitbedError
from experiment.handout import PREFIX, HandoutError, parse_record_line
from experiment.printable import printable
from rehearsal.benchmarkjob import BenchmarkJob
from report.keeping import Kept, compared, keep
from scripts import entrance
from scripts import stack as stacks
from scripts.measured import Measured, measured

NOT_ALL = 1
RESULTS = Path("results")


@dataclass(frozen=True)
class Afar:
    """A record that is elsewhere; size in bytes and MD5 are known where they can be had without reading it."""

    read: Callable[[], bytes]
    size: int | None = None
    md5: str | None = None

    def is_known_to_be(self, target: Path) -> bool:
        """Return whether a file is this record, as far as that can be told without reading it from afar."""
        if self.md5 is None or not target.is_file() or target.stat().st_size != self.size:
            return False
        return hashlib.md5(target.read_bytes(), usedforsecurity=False).hexdigest() == self.md5


@dataclass(frozen=True)
class Source:
    """Where the records of a run are.

    Attributes:
        place: for a person.
        records: by path below a directory of results.
        skipped: what is there and cannot be taken for a record, each with the reason.
    """

    place: str
    records: Mapping[PurePosixPath, Afar]
    skipped: Sequence[str]


Fetched = Mapping[Kept, Sequence[str]]
"""What was done, or would be: paths by what the records were to what lay in their place."""


def fetch(
    stack: Annotated[str, typer.Argument(help="A stack of stacks/, or the path of its file.")],
    into: Annotated[Path | None, typer.Option(metavar="DIR", help="Default: results/STACK.")] = None,
    run: Annotated[str | None, typer.Option(help="Another run than that of its file.")] = None,
    attempt: Annotated[
        int | None, typer.Option(help="Another attempt than that of its file; where records come from a Job's log.")
    ] = None,
    bucket: Annotated[str | None, typer.Option(help="A bucket, where a stack has had several.")] = None,
    profile: Annotated[str | None, typer.Option(help="A profile of AWS's configuration.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be written; nothing is.")] = False,
    json_output: Annotated[bool, typer.Option("--json", help="Print what was done as JSON.")] = False,
) -> None:
    """Bring the records of a run into DIR/RUN: from S3, or from the volume of the benchmark through its Job's log.

    What is here already stays as it is, also where another record has the same name; so the same command goes on where
    it was stopped. Ends with 0 if all records are here then, with 1 if not.
    """
    found = stacks.read(stack)
    what = measured(found, run, attempt)
    directory = into or RESULTS / found.name
    source = source_of(found, what, bucket, profile)
    fetched = bring(source, directory, dry_run=dry_run)
    complete = not fetched["different"] and not source.skipped and any(fetched.values())
    if json_output:
        said = {
            "stack": found.name,
            "run": what.plan.run,
            "from": source.place,
            "into": str(directory),
            "dry_run": dry_run,
            "records": dict(fetched),
            "skipped": list(source.skipped),
        }
        typer.echo(json.dumps(said, indent=2))
    else:
        _tell(source, fetched, directory, what.plan.run, dry_run=dry_run)
    raise typer.Exit(0 if complete else NOT_ALL)


def bring(source: Source, directory: Path, *, dry_run: bool) -> Fetched:
    """Write what is not there yet; nothing is written over.

    Raises:
        SplitbedError: a record cannot be read, or not be written.
    """
    fetched: dict[Kept, list[str]] = {"new": [], "same": [], "different": []}
    for path, record in sorted(source.records.items()):
        target = directory / path
        if record.is_known_to_be(target):
            kept: Kept = "same"
        elif dry_run and not target.exists():
            kept = "new"
        else:
            kept = (compared if dry_run else keep)(target, record.read())
        fetched[kept].append(str(path))
    return fetched


def source_of(found: stacks.Stack, what: Measured, bucket: str | None, profile: str | None) -> Source:
    """Return where the records of a run are; raises SplitbedError if they are not there, or not yet."""
    results, name, run = what.benchmark.results, found.settings.name, what.plan.run
    if isinstance(results, S3Results):
        account, region = Account(profile), found.cluster.region
        chosen = bucket or results.bucket or bucket_of(account, region, name)
        return of_bucket(StoredResults(account, region, chosen, name), run)
    if isinstance(results, LocalResults):
        raise SplitbedError(
            f"{found.name} keeps its records in {results.path} of the node that ran the benchmark, which no API reads.",
            f"Copy {results.path}/{run} from there, or take benchmark.results: {{kind: claim}} next time.",
        )
    with entrance.opened(found, profile) as (kubeconfig, context):
        seen = BenchmarkJob(kubeconfig, context, what.namespace, what.job)
        return of_log(f"the log of Job {what.job} in {what.namespace}", _log(seen, what))


def of_bucket(stored: StoredResults, run: str) -> Source:
    """Return the records in a bucket."""
    records, others = stored.records(run)
    return Source(
        stored.place(run),
        {record.path: Afar(partial(stored.read, record), record.size, record.md5) for record in records},
        [f"{key}: this names no file of a record" for key in others],
    )


def of_log(place: str, log: str) -> Source:
    """Return the records of a volume that only the benchmark's pod reads, as it prints them at its end."""
    records: dict[PurePosixPath, Afar] = {}
    skipped: list[str] = []
    for line in log.split("\n"):
        if line.startswith(PREFIX):
            try:
                path, record = parse_record_line(line)
            except HandoutError as error:
                skipped.append(error.message)
            else:
                records[path] = Afar(partial(str.encode, record.to_json()))
    return Source(place, records, skipped)


def _log(seen: BenchmarkJob, what: Measured) -> str:
    state = seen.job(what.namespace, what.job)
    if state == "missing":
        raise SplitbedError(
            f"There is no Job {what.job} in {what.namespace}.",
            "Its records went with it, unless they were fetched before. Name what is there by --run and --attempt.",
        )
    if state == "running":
        raise SplitbedError(
            f"Job {what.job} has not ended yet, and hands its records out when it does.", "See `splitbed wait`."
        )
    log = seen.whole_log()
    if log is None:
        raise SplitbedError(
            f"The pod of Job {what.job} is gone, and its log with it.",
            "The records are on the stack's claim until it is destroyed: raise benchmark.attempt and run `pulumi up`; "
            "nothing is measured twice, and all is handed out again.",
        )
    return log


def _tell(source: Source, fetched: Fetched, directory: Path, run: str, *, dry_run: bool) -> None:
    for path in fetched["new"]:
        typer.echo(printable(f"{'would be written' if dry_run else 'written'}: {directory / path}"))
    for path in fetched["different"]:
        typer.echo(printable(f"another one is here and stays: {directory / path}"))
    for what in source.skipped:
        typer.echo(printable(f"skipped: {what}"))
    counts = {kept: len(paths) for kept, paths in fetched.items()}
    if not any(counts.values()):
        typer.echo(f"No record is in {source.place}.")
        return
    typer.echo(
        f"From {source.place}: {counts['new']} records {'would be ' if dry_run else ''}written, {counts['same']} were "
        f"here already, {counts['different']} differ from what is here. Judge them: splitbed compare {directory / run}"
    )
