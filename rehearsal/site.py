"""A cluster that can be asked about its Jobs, and how their records come from there."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from rehearsal.observer import ClusterUnreachableError, PodPlace
from rehearsal.records import ClaimedRecords, LocalRecords, Records
from rehearsal.target import Target


@dataclass(frozen=True, kw_only=True)
class ClusterSite:
    """See `campaign.measuring.Site`.

    Attributes:
        target: the cluster.
        note: told of each finished repeat.
        written: the directory of this machine into which Jobs with local results write.
    """

    target: Target
    note: Callable[[str], None]
    written: Path

    def wait_until_alive(self) -> bool:
        """See `Site`."""
        return self.target.wait_until_alive()

    def succeeded(self, outputs: dict[str, Any], patience_s: float) -> bool:
        """See `Site`."""
        records = self._records(outputs, self.written)
        deadline = time.monotonic() + patience_s
        seen = 0
        while time.monotonic() < deadline:
            try:
                state = self.target.observer.job(outputs["namespace"], outputs["job_name"])
                finished = records.finished()  # after the state: of an ended Job it is all
            except ClusterUnreachableError:
                if not self.target.wait_until_alive():
                    raise
                continue
            for name in finished[seen:]:
                self.note(f"finished {name}")
            seen = len(finished)
            if state != "running":
                return state == "succeeded"
            time.sleep(records.poll_s)
        return False

    def collect(self, outputs: dict[str, Any], into: Path) -> bool:
        """See `Site`."""
        return self._records(outputs, into).collect()

    def last_words(self, outputs: dict[str, Any]) -> str:
        """See `Site`."""
        return self.target.observer.last_words(outputs["namespace"], outputs["job_name"])

    def places(self, outputs: dict[str, Any]) -> tuple[str, ...]:
        """See `Site`."""
        return tuple(map(placed, self.pods(outputs)))

    def pods(self, outputs: dict[str, Any]) -> tuple[PodPlace, ...]:
        """Return the stack's pods and their nodes."""
        return tuple(self.target.observer.pods(outputs["namespace"]))

    def _records(self, outputs: dict[str, Any], into: Path) -> Records:
        run: str = outputs["run"]
        if outputs["results"]["kind"] == "local":
            return LocalRecords(self.written / run, into / run)
        read_log = partial(self.target.observer.log, outputs["namespace"], outputs["job_name"])
        return ClaimedRecords(read_log, into, run, self.note)


def placed(pod: PodPlace) -> str:
    """Return where a pod runs, in words."""
    return f"{pod.role} {pod.pod} on {pod.node}"
