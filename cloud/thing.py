"""A thing that is there in AWS."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from experiment import ownership

_CLUSTER_KEYS = ("eks:cluster-name", "aws:eks:cluster-name", "cluster.k8s.amazonaws.com/name")
_CLUSTER_OWNED = "kubernetes.io/cluster/"


@dataclass(frozen=True)
class Thing:
    """What it is, where, and its tags.

    Attributes:
        kind: such as `instance`.
        id: as the service calls it, unique for kind and region.
        region: where it is, or `global`.
        tags: all of them.
        handle: what its deletion needs besides its id.
        parent: id of the thing that it goes with, such as the instance of a volume.
        cluster: name of the EKS cluster it belongs to, whatever its tags.
        ends: what a schedule is set to, as its expression; of other things none.
        ails: what keeps a node group from its nodes, in AWS's words; of other things nothing.
    """

    kind: str
    id: str
    region: str
    tags: Mapping[str, str] = field(default_factory=dict)
    handle: str = ""
    parent: str = ""
    cluster: str = ""
    ends: str = ""
    ails: str = ""

    @property
    def experiment(self) -> str | None:
        """The experiment that its tags name."""
        return self.tags.get(ownership.EXPERIMENT)

    @property
    def of_cluster(self) -> str | None:
        """The EKS cluster that it is part of, by itself or by the tags that AWS gives its parts."""
        if self.cluster:
            return self.cluster
        owned = (key.removeprefix(_CLUSTER_OWNED) for key in self.tags if key.startswith(_CLUSTER_OWNED))
        return next((self.tags[key] for key in _CLUSTER_KEYS if key in self.tags), None) or next(owned, None)

    def __str__(self) -> str:
        return f"{self.kind} {self.id} in {self.region}" if self.region != GLOBAL else f"{self.kind} {self.id}"


GLOBAL = "global"
"""In place of a region, of what has none."""


def tag_map(tags: Iterable[Mapping[str, Any]] | None) -> dict[str, str]:
    """Return AWS's list of keys and values as a mapping."""
    return {tag["Key"]: tag["Value"] for tag in tags or ()}
