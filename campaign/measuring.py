"""One attempt at one run: the stack up, its Job waited for, its records fetched."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from campaign.progress import Progress
from campaign.pulumi_cli import Pulumi, PulumiError

PATIENCE_S = 900.0  # beyond what the plan may take; the Job itself gives up earlier


class Site(Protocol):
    """Where a stack's Job runs, and from where its records come."""

    def wait_until_alive(self) -> bool:
        """Return whether it answers, now or after a moment."""

    def succeeded(self, outputs: dict[str, Any], patience_s: float) -> bool:
        """Wait for the end of the stack's Job, at most so many seconds; return whether it measured all.

        Raises:
            SplitbedError: it does not answer any more.
        """

    def collect(self, outputs: dict[str, Any], into: Path) -> bool:
        """Bring the ended Job's records into `into`/RUN; return whether one is there then."""

    def last_words(self, outputs: dict[str, Any]) -> str:
        """Return what the Job said last, or why that cannot be told."""

    def places(self, outputs: dict[str, Any]) -> tuple[str, ...]:
        """Return where the stack's pods run."""


@dataclass(frozen=True, kw_only=True)
class Measuring:
    """Does it with one CLI at one site; `up_takes` says for a person how long the stack takes to come up."""

    pulumi: Pulumi
    site: Site
    progress: Progress
    up_takes: str = ""

    def attempt(
        self, run: str, attempt: int, into: Path, longest_s: float, replaced: Sequence[str] = ()
    ) -> dict[str, Any] | None:
        """Bring the stack up as its file says, wait for the Job and fetch its records.

        Args:
            run: the benchmark's run id.
            attempt: its number.
            into: where the records of all runs are.
            longest_s: after which the benchmark is over by its plan.
            replaced: URNs of what is made anew even if nothing of it changed.

        Returns:
            The stack's outputs; None if the Job failed, which was noted.
        """
        stack = self.pulumi.stack
        self.progress.step(f"{stack}: pulumi up{f' ({self.up_takes})' if self.up_takes else ''}")
        self.safely(partial(self.pulumi.up, self.progress, replaced))
        outputs = self.pulumi.outputs()
        self.progress.step(f"{stack}: benchmark, run {run}, attempt {attempt}")
        succeeded = self.site.succeeded(outputs, longest_s + PATIENCE_S)
        if self.site.collect(outputs, into) and succeeded:
            return outputs
        fault = "finished, but no record of it arrived" if succeeded else "did not finish"
        self.progress.note(f"the benchmark's Job {fault}; its last words:\n{self.site.last_words(outputs)}")
        return None

    def safely(self, command: Callable[[], None]) -> None:
        """Run a Pulumi command; if it fails and the site answers, refresh the state and run it once more.

        Raises:
            PulumiError: it failed, twice or without hope.
        """
        try:
            command()
        except PulumiError as error:
            if not self.site.wait_until_alive():
                raise
            self.progress.note(f"{error.message}\nThe state is refreshed and the command tried once more.")
            self.pulumi.refresh(self.progress)
            command()
