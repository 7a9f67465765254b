"""A stack's cluster, wherever it is: waited for as `splitbed wait` does, fetched from as `splitbed fetch` does."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

from cloud.clock import Clock, WallClock
from experiment.errors import SplitbedError
from rehearsal.benchmarkjob import BenchmarkJob
from rehearsal.observer import Observer
from rehearsal.site import placed
from scripts import entrance
from scripts import stack as stacks
from scripts.fetch import bring, source_of
from scripts.measured import measured
from scripts.wait import JobGoneError, follow


@dataclass(frozen=True, kw_only=True)
class FarSite:
    """See `campaign.measuring.Site`.

    Attributes:
        file: the private copy of the stack file, which says what is measured just now.
        note: told of each repeat.
        profile: of AWS's configuration.
        clock: the time.
    """

    file: Path
    note: Callable[[str], None]
    profile: str | None = None
    clock: Clock = field(default_factory=WallClock)

    def wait_until_alive(self) -> bool:
        """See `Site`."""
        try:
            with self._opened() as (kubeconfig, context):
                Observer(kubeconfig, context).check()
        except SplitbedError:  # whatever there is no way to, there is no cluster yet, or no more
            return False
        return True

    def succeeded(self, outputs: dict[str, Any], patience_s: float) -> bool:
        """See `Site`; a connection that is lost is tried again until it is back."""
        deadline = self.clock.now() + timedelta(seconds=patience_s)
        try:
            with self._job(outputs) as job:
                name = f"{outputs['job_name']} in {outputs['namespace']}"
                followed = follow(job, name, self.clock, _Lines(self.note), deadline)
        except JobGoneError as error:
            self.note(error.message)
            return False
        return not followed.timed_out and followed.look.state == "succeeded"

    def collect(self, outputs: dict[str, Any], into: Path) -> bool:
        """See `Site`."""
        found = stacks.read(str(self.file))
        try:
            brought = source_of(found, measured(found, None, None), None, self.profile)
        except SplitbedError as error:  # of a Job that failed, or of which nothing is left
            self.note(error.message)
            return False
        for skipped in brought.skipped:
            self.note(f"skipped: {skipped}")
        bring(brought, into, dry_run=False)
        return any((into / outputs["run"]).glob("*/*.json"))

    def last_words(self, outputs: dict[str, Any]) -> str:
        """See `Site`."""
        try:
            with self._job(outputs) as job:
                look = job.look()
        except SplitbedError as error:
            return f"they cannot be read ({error.message})"
        return ": ".join(part for part in (look.why, look.doing) if part) or "nothing"

    def places(self, outputs: dict[str, Any]) -> tuple[str, ...]:
        """See `Site`."""
        with self._opened() as (kubeconfig, context):
            return tuple(map(placed, Observer(kubeconfig, context).pods(outputs["namespace"])))

    @contextmanager
    def _opened(self) -> Iterator[tuple[Path, str | None]]:
        with entrance.opened(stacks.read(str(self.file)), self.profile) as found:
            yield found

    @contextmanager
    def _job(self, outputs: dict[str, Any]) -> Iterator[BenchmarkJob]:
        with self._opened() as (kubeconfig, context):
            yield BenchmarkJob(kubeconfig, context, outputs["namespace"], outputs["job_name"])


class _Lines:
    """Where `follow` tells how far a Job is."""

    def __init__(self, note: Callable[[str], None]) -> None:
        self._note = note

    def line(self, text: str) -> None:
        """Say something that stays."""
        self._note(text)

    def at(self, done: int, doing: str) -> None:
        """Show how far it is; the lines tell that."""
