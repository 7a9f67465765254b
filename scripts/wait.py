"""`splitbed wait`: a stack's benchmark followed to its end."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Annotated, Protocol

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from cloud.clock import Clock, WallClock
from experiment.errors import SplitbedError
from experiment.printable import printable
from rehearsal.benchmarkjob import BenchmarkJob, Look
from rehearsal.observer import ClusterUnreachableError
from scripts import entrance
from scripts import stack as stacks
from scripts.measured import measured

FAILED = 1
TIMED_OUT = 124  # as of the command `timeout`
_BETWEEN_S = 5.0
_LONGEST_PAUSE_S = 60.0


class JobGoneError(SplitbedError):
    """There is no such Job, or no more."""


@dataclass(frozen=True)
class Followed:
    """What became of a Job; `timed_out` if it had not ended when the time was over."""

    look: Look
    timed_out: bool = False

    @property
    def exit_code(self) -> int:
        """The client's own verdict: 0 if all was measured."""
        if self.timed_out:
            return TIMED_OUT
        return 0 if self.look.state == "succeeded" else self.look.exit_code or FAILED


class Display(Protocol):
    """Where a person sees how far it is."""

    def line(self, text: str) -> None:
        """Say something that stays."""

    def at(self, done: int, doing: str) -> None:
        """Show how many repeats are finished, and what goes on."""


def wait(
    stack: Annotated[str, typer.Argument(help="A stack of stacks/, or the path of its file.")],
    run: Annotated[str | None, typer.Option(help="Another run than that of its file.")] = None,
    attempt: Annotated[int | None, typer.Option(help="Another attempt than that of its file.")] = None,
    timeout: Annotated[
        float | None, typer.Option(metavar="MINUTES", help="Wait no longer; the Job goes on.", min=0)
    ] = None,
    profile: Annotated[str | None, typer.Option(help="A profile of AWS's configuration.")] = None,
    json_output: Annotated[bool, typer.Option("--json", help="Print what became of it as JSON.")] = False,
) -> None:
    """Follow a stack's benchmark: a bar on a terminal, else a line for each repeat that was measured.

    A connection that is lost is tried again until it is back. Ends as the benchmark does: with 0 if all was measured,
    with 1 if not all, with 2 if the benchmark refused to start, and with 124 if the time is over.
    """
    found = stacks.read(stack)
    what = measured(found, run, attempt)
    job, planned = what.job, len(what.plan.repeats)
    clock = WallClock()
    deadline = clock.now() + timedelta(minutes=timeout) if timeout is not None else None
    with entrance.opened(found, profile) as (kubeconfig, context), shown(job, planned) as display:
        seen = BenchmarkJob(kubeconfig, context, what.namespace, job)
        followed = follow(seen, f"{job} in {what.namespace}", clock, display, deadline)
    if json_output:
        look = followed.look
        said = {
            "stack": found.name,
            "namespace": what.namespace,
            "job": job,
            "state": look.state,
            "timed_out": followed.timed_out,
            "why": look.why,
            "exit_code": followed.exit_code,
            "planned": planned,
            "finished": (look.before or 0) + look.finished,
            "measured": list(look.measured),
        }
        typer.echo(json.dumps(said, indent=2))
    else:
        typer.echo(printable(_verdict(found.name, job, followed)))
    raise typer.Exit(followed.exit_code)


class Followable(Protocol):
    """Something that can be looked at, as `BenchmarkJob` can."""

    def look(self) -> Look:
        """See `BenchmarkJob.look`."""

    def others(self) -> Sequence[str]:
        """See `BenchmarkJob.others`."""


def follow(job: Followable, name: str, clock: Clock, display: Display, deadline: datetime | None) -> Followed:
    """Look again and again until the Job has ended, or until `deadline`.

    Raises:
        JobGoneError: it is not there, or not any more.
        ClusterRefusedError: the API server refuses to tell.
        ClusterUnreachableError: there was no connection from the beginning.
    """
    last: Look | None = None
    told = 0
    while True:
        look = _connected(job.look, clock, display, deadline) if last is not None else job.look()
        if look is None:
            assert last is not None  # noqa: S101
            return Followed(last, timed_out=True)
        if look.state == "missing":
            raise _gone(job, name, was_there=last is not None)
        # A log is gone with its pod, and is no news then.
        if last is not None and len(look.measured) < len(last.measured):
            look = replace(look, before=last.before, measured=last.measured)
        for line in look.measured[told:]:
            display.line(line)
        told = len(look.measured)
        display.at((look.before or 0) + look.finished, look.doing)
        last = look
        if look.state != "running":
            return Followed(look)
        if deadline is not None and clock.now() >= deadline:
            return Followed(look, timed_out=True)
        clock.sleep(_BETWEEN_S)


def _connected(look: Callable[[], Look], clock: Clock, display: Display, deadline: datetime | None) -> Look | None:
    """Return the next look that succeeds, after as many tries as that takes; none if the time is over before."""
    pause_s, lost_at = _BETWEEN_S, None
    while True:
        try:
            seen = look()
        except ClusterUnreachableError as error:
            if lost_at is None:
                lost_at = clock.now()
                display.line(f"the connection is lost, and tried again until it is back: {error.message}")
            if deadline is not None and clock.now() >= deadline:
                return None
            clock.sleep(pause_s)
            pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)
        else:
            if lost_at is not None:
                display.line(f"connected again, after {(clock.now() - lost_at).total_seconds():.0f} s")
            return seen


def _gone(job: Followable, name: str, *, was_there: bool) -> JobGoneError:
    if was_there:
        return JobGoneError(f"Job {name} was removed before it had ended.", "See who did; `pulumi up` makes it again.")
    others = job.others()
    there = f"There are {', '.join(others)}" if others else "There is none"
    return JobGoneError(
        f"There is no Job {name}.",
        f"{there}: the name tells run, plan and attempt. Run `pulumi up`, or name what runs by --run and --attempt.",
    )


def _verdict(stack: str, job: str, followed: Followed) -> str:
    look = followed.look
    if followed.timed_out:
        return f"{job} has not ended yet, and goes on; the last it said: {look.doing or 'nothing'}"
    if look.state == "succeeded":
        return f"{job} has measured all. Fetch the records: splitbed fetch {stack}"
    why = f" ({look.why})" if look.why else ""
    return f"{job} failed{why}; the last it said: {look.doing or 'nothing'}"


class Lines:
    """Where there is no terminal: one line for each repeat."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def line(self, text: str) -> None:
        """See `Display`."""
        self._console.print(Text(printable(text)), soft_wrap=True, highlight=False)

    def at(self, done: int, doing: str) -> None:
        """See `Display`; the lines tell that."""


class Bar(Lines):
    """On a terminal: the lines, and below them a bar."""

    def __init__(self, progress: Progress, job: str, planned: int) -> None:
        super().__init__(progress.console)
        self._progress = progress
        self._task = progress.add_task(job, total=planned, doing="")

    def at(self, done: int, doing: str) -> None:
        """See `Display`."""
        self._progress.update(self._task, completed=done, doing=printable(doing))


@contextmanager
def shown(job: str, planned: int) -> Iterator[Lines]:
    """Yield where to show a Job of so many repeats."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield Lines(console)
        return
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[doing]}", markup=False),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        yield Bar(progress, job, planned)
