"""Which run of the benchmark a rehearsed stack is at, remembered across killed commands."""

import json
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path

from stackfiles.atomic import write_atomically


@dataclass(frozen=True, kw_only=True)
class Run:
    """One run of the benchmark: its id names the records, its attempt the Job."""

    id: str
    attempt: int = 1
    measured: bool = False  # and shown: nothing of it is left to do
    cluster: str = ""  # identity of the cluster that the Pulumi state speaks of

    def next_attempt(self) -> "Run":
        """Return the same run, to be tried by a new Job."""
        return replace(self, attempt=self.attempt + 1)


def load(path: Path, now: datetime) -> Run:
    """Return the run that is not yet measured, or a new one named by `now`; unreadable state is a new run."""
    try:
        run = Run(**json.loads(path.read_text()))
    except (OSError, ValueError, TypeError):
        run = None
    if run is None or run.measured:
        return Run(id=f"r{now:%Y%m%d-%H%M%S}", cluster=run.cluster if run else "")
    return run


def save(run: Run, path: Path) -> None:
    """Write the run so that a crash leaves the old or the new one."""
    write_atomically(path, json.dumps(asdict(run)))
