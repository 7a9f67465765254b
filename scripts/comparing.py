"""What the real engine says of a change of one stack."""

import json
import os
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from rich.console import Console

from campaign.pulumi_cli import PulumiError
from experiment.cluster import EksCluster
from experiment.errors import SplitbedError
from rehearsal.comparison import Comparison, Version
from rehearsal.home import home
from rehearsal.paper import Previewed
from rehearsal.progress import ConsoleProgress
from rehearsal.toolchain import Toolchain
from review.state import resources
from review.step import Step, steps, violations
from scripts.sides import Side
from stackfiles.stackfile import STACKS

ROOT = STACKS.parent

_STAND_IN = timedelta(days=3)
_ON_PAPER = (
    "By the real engine over doubles of AWS, EKS and Kubernetes: the stack as it was is brought up there first. "
    "{deployed}Nothing was asked of any account, and the LeaderWorkerSet chart is compared by its values."
)
_ALL_NEW = "By the real engine over doubles of AWS, EKS and Kubernetes, with nothing there before: {why}."
_LIVE = "By the real engine against the live stack's state, with the providers of AWS and Kubernetes themselves."
_HALF = (
    "By the real engine against the live stack's state. Only the AWS half was compared: the API of its cluster cannot "
    "be reached from here."
)


@dataclass(frozen=True)
class Compared:
    """What would be done, none if the engine refused; what is wrong with it; and what was compared with what."""

    steps: tuple[Step, ...] | None
    wrong: tuple[str, ...]
    basis: str


class Engine:
    """The engine with what it needs, looked for once."""

    def __init__(self, scratch: Path, backend: str | None, now: datetime) -> None:
        self._scratch, self._backend, self._now = scratch, backend, now
        self._progress = ConsoleProgress(Console(stderr=True))
        self._pulumi = Toolchain(home(), self._progress).ensure("pulumi")["pulumi"]

    def compare(self, name: str, before: Side, after: Side) -> Compared:
        """Compare a stack with its live state, or where it has none with what it was, on paper.

        Raises:
            SplitbedError: the backend does not tell.
            PulumiError: the throwaway stack cannot be made.
        """
        comparison = self._comparison(name)
        exported = self._exported(name) if self._backend else None
        if exported is not None:
            self._progress.step(f"{name}: pulumi preview, against the live stack's state")
            previewed, reached = comparison.with_live(exported, _version(after))
            found = tuple(step for step in steps(previewed.events) if reached or not step.in_kubernetes)
            return self._told(previewed, found, _LIVE if reached else _HALF)
        deployed = "It is not deployed. " if self._backend else ""
        if (why := _nothing_before(before, after)) is None:
            self._progress.step(f"{name}: as it was and as it will be, on paper (about half a minute)")
            try:
                previewed = comparison.on_paper(_version(before), _version(after))
            except PulumiError:
                why = "as it was, it cannot be brought up"
            else:
                return self._told(previewed, steps(previewed.events), _ON_PAPER.format(deployed=deployed))
        self._progress.step(f"{name}: on paper, with nothing there before")
        previewed = self._comparison(name).on_paper(None, _version(after))
        return self._told(previewed, steps(previewed.events), deployed + _ALL_NEW.format(why=why))

    def _told(self, previewed: Previewed, found: tuple[Step, ...], basis: str) -> Compared:
        broken = violations(previewed.events)
        if previewed.refused and not broken:
            return Compared(None, (previewed.refused,), basis)
        return Compared(found, broken, basis)

    def _comparison(self, name: str) -> Comparison:
        return Comparison(
            pulumi=self._pulumi,
            root=Path(tempfile.mkdtemp(prefix=f"{name}-", dir=self._scratch)),
            stack=name,
            now=self._now,
            end=(self._now + _STAND_IN).replace(minute=0, second=0, microsecond=0),
            policies=ROOT / "policies",
            progress=self._progress,
        )

    def _exported(self, name: str) -> Mapping[str, Any] | None:
        """Return the state of a stack in the backend; None of one that is not up there.

        Raises:
            SplitbedError: the backend does not tell.
        """
        environment = {**os.environ, "PULUMI_BACKEND_URL": str(self._backend), "PULUMI_SKIP_UPDATE_CHECK": "true"}
        done = subprocess.run(
            [str(self._pulumi), "stack", "export", "--stack", name, "--non-interactive", "--color", "never"],
            cwd=ROOT, env=environment, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        if done.returncode:
            if "no stack named" in done.stderr:
                return None
            raise SplitbedError(
                f"{self._backend} does not tell the state of {name}: {done.stderr.strip()}",
                "The backend's role must be able to read below .pulumi; without --backend it is not asked.",
            )
        found: Mapping[str, Any] = json.loads(done.stdout)
        return found if resources(found) else None


def _nothing_before(before: Side, after: Side) -> str | None:
    """Return why there is nothing to compare with on paper; None if there is something."""
    if before.settings is None or after.settings is None:
        return "the stack is new"
    old, new = before.settings.cluster, after.settings.cluster
    if old.kind != new.kind:
        return "it moves to another kind of cluster"
    if isinstance(old, EksCluster) and isinstance(new, EksCluster) and old.region != new.region:
        return f"it moves from {old.region} to {new.region}"
    return None


def _version(side: Side) -> Version:
    if side.file is None or side.settings is None:
        raise ValueError("a side without a file is compared with nothing")
    return Version(project=side.project, file=side.file, settings=side.settings, pins=side.pins)
