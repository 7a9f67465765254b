"""One stack of the AWS half on the real engine, over the doubles."""

from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

from cloud import lookup
from experiment import names
from experiment.pins import Pins
from rehearsal import standins
from rehearsal.aws.local import Local
from rehearsal.aws.world import BIN, World
from rehearsal.cluster.api import Api
from scripts import stack as stacks
from tests.engine.engine_stack import EngineStack
from tests.engine.in_cluster import lasting


@dataclass(kw_only=True)
class AwsStack(EngineStack):
    """A stack in an account of its own.

    Attributes:
        world: the doubles.
        profile: of AWS's, that whoever runs its commands has chosen.
    """

    world: World
    profile: str | None = None

    @property
    def cluster(self) -> str:
        """The name of its cluster."""
        return names.object_name(self.name)

    @property
    def _clusters(self) -> "Remembering":
        found = self.world.estate.kubernetes
        assert isinstance(found, Remembering)
        return found

    @property
    def api(self) -> Api:
        """An administrator's calls of its cluster."""
        return self._clusters.planes[self.cluster][0].api

    def at_its_end(self) -> set[str]:
        """Return what was in its cluster when that was taken down."""
        return self._clusters.last[self.cluster]

    def create(self, **changes: Any) -> None:
        """Write the private copy, with plainly fake pins besides; make the state."""
        super().create(**changes)
        pins = self.root / "pins.lock.json"
        pins.write_text(lookup.text(fake_pins(self.file)))
        self.configure(pins=str(pins))

    def environment(self) -> dict[str, str]:
        """Return what commands run in."""
        own = {name: value for name, value in super().environment().items() if not name.startswith("AWS_")}
        self.world.eks.profile = self.profile
        return {
            **own,
            **self.world.environment(),
            **({"AWS_PROFILE": self.profile} if self.profile else {}),
            "PATH": f"{BIN}:{own['PATH']}",
        }

    def instances(self) -> set[str]:
        """Return the ids of its instances that live."""
        return {one["InstanceId"] for one in self.world.estate.instances(self.cluster)}


@dataclass
class Remembering(Local):
    """Clusters of this machine of which is known what was in them when they were taken down."""

    last: dict[str, set[str]] = field(default_factory=dict)

    def down(self, cluster: str) -> None:
        """See `Local`."""
        if cluster in self.planes:
            self.last[cluster] = lasting(self.planes[cluster][0].api)
        super().down(cluster)


def fake_pins(file: Path) -> Pins:
    """Return pins of all that a stack takes from outside, which nobody can take for real ones."""
    return standins.completed(Pins(day=date(2000, 1, 1)), [stacks.read(str(file)).settings])
