"""What is decided before the first run of a campaign, and stays so until its end."""

from datetime import datetime
from typing import Literal

from pydantic import AwareDatetime, Field

from campaign import topologies
from experiment.measure.part import Part
from experiment.topology import Topology
from report.statistics.design import Design

End = Literal["none", "destroy", "keep", "rehearsed"]
"""What becomes of the stack: nothing served any more on nodes that stay, all of it taken down, all left as it is, or
whatever the rehearsal around it does."""


class Campaign(Part):
    """Its question and its method.

    Attributes:
        id: what the run ids of its turns begin with.
        stack: whose nodes are used.
        settings_hash: of what the stack file says, but for the topology and what may be moved meanwhile.
        topologies: the first is what the others are held against.
        seed: of the order of turns.
        looks: numbers of runs of each topology after which it may end; the last is where it ends in any case.
        difference: the change, as a share, that every judged comparison shall be able to show before it ends early.
        begun_at: since when time and money count.
    """

    id: str = Field(pattern=r"^c[0-9]{8}-[0-9]{6}$")
    stack: str
    settings_hash: str
    topologies: tuple[Topology, ...] = Field(min_length=2)
    seed: int
    looks: tuple[int, ...] = Field(min_length=1)
    difference: float
    begun_at: AwareDatetime

    @property
    def labels(self) -> tuple[str, ...]:
        """The topologies in words."""
        return tuple(map(topologies.label, self.topologies))

    @property
    def design(self) -> Design:
        """How error is shared out over its looks."""
        return Design(looks=self.looks)

    @property
    def turns(self) -> int:
        """How many turns it has at most."""
        return max(self.looks) * len(self.topologies)

    def asks_as(self, other: "Campaign") -> bool:
        """Tell whether another has the same question and method, whenever it began."""
        return self.model_copy(update={"id": other.id, "begun_at": other.begun_at}) == other


def named(now: datetime) -> str:
    """Return the id of a campaign that begins now."""
    return f"c{now:%Y%m%d-%H%M%S}"
