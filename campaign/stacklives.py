"""Lives of a stack whose topology is switched by the plain Pulumi CLI."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from campaign import topologies
from campaign.campaign import End
from campaign.measuring import Measuring
from campaign.order import Turn
from experiment.topology import Topology
from stackfiles.stackfile import StackFile

ENGINES = "LeaderWorkerSet"
"""Kind of the one resource that is made anew at every turn."""


def _nothing() -> Mapping[str, Any]:
    return {}


@dataclass(frozen=True, kw_only=True)
class StackLives:
    """See `campaign.lives.Lives`.

    Attributes:
        file: what the stack file says, with whatever a person replaced.
        measuring: the CLI, and where the stack runs.
        overrides: settings by dotted path that put it there, asked for before each command.
    """

    file: StackFile
    measuring: Measuring
    overrides: Callable[[], Mapping[str, Any]] = field(default=_nothing)

    def begin(self) -> bool:
        """See `Lives`."""
        pulumi, progress = self.measuring.pulumi, self.measuring.progress
        remarks = pulumi.prepare()
        for remark in remarks:
            progress.note(remark)
        if remarks:
            # What the killed command did last is not in its state: objects it deleted would be missed by nobody.
            self._write({})
            progress.step(f"{pulumi.stack}: pulumi refresh")
            pulumi.refresh(progress)
        return bool(pulumi.outputs())

    def measure(self, turn: Turn, topology: Topology, attempt: int, into: Path) -> tuple[str, ...] | None:
        """See `Lives`."""
        pulumi = self.measuring.pulumi
        # Two turns of one topology are two deployments; a turn that a killed command has set is one.
        replaced = [] if pulumi.outputs().get("run") == turn.run else pulumi.urns(ENGINES)
        changes = {
            "topology": topologies.mapping(topology),
            "benchmark.run": turn.run,
            "benchmark.attempt": attempt,
        }
        file = self._write(changes)
        outputs = self.measuring.attempt(turn.run, attempt, into, longest_s(file), replaced)
        return None if outputs is None else self.measuring.site.places(outputs)

    def end(self, how: End) -> None:
        """See `Lives`."""
        pulumi, progress = self.measuring.pulumi, self.measuring.progress
        if how in ("keep", "rehearsed"):
            return
        if how == "none":
            self._write({"topology": {"kind": "none"}})
            self.measuring.safely(partial(pulumi.up, progress))
        else:
            self._write({})
            self.measuring.safely(partial(pulumi.destroy, progress))

    def _write(self, changes: Mapping[str, Any]) -> StackFile:
        file = self.file.replaced({**self.overrides(), **changes})
        file.write(self.measuring.pulumi.config_file)
        return file


def longest_s(file: StackFile) -> float:
    """Return the seconds that the benchmark of a stack may take by its own plan."""
    settings = file.check(datetime.now(UTC))
    return settings.benchmark.plan(settings.model.served_name).longest_s if settings.benchmark else 0.0
