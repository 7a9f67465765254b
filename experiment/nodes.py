"""The nodes an experiment may count on, as declared or as AWS makes them; nothing here looks at a cluster."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self

from pydantic import Discriminator, Field, StringConstraints, Tag, model_validator
from pydantic_core import PydanticCustomError

from experiment.catalogue.instances import instance_types
from experiment.labels import GROUP
from experiment.resources import GPU
from experiment.strict import Strict

_NAME = r"[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?"
LabelKey = Annotated[
    str, StringConstraints(pattern=rf"^([a-z0-9]([a-z0-9.-]{{0,251}}[a-z0-9])?/)?{_NAME}$", max_length=317)
]
LabelValue = Annotated[str, StringConstraints(pattern=rf"^({_NAME})?$")]

Architecture = Literal["arm64", "amd64"]
Device = Literal["cpu", "gpu"]
GroupName = Literal["system", "engine"]
InstanceName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9-]+\.[a-z0-9-]+$", max_length=48)]
ReservationId = Annotated[str, StringConstraints(pattern=r"^cr-[0-9a-f]{8,17}$")]


class Toleration(Strict):
    """A taint of the nodes that pods of the group put up with."""

    key: LabelKey = Field(description="key of the taint")
    value: LabelValue | None = Field(None, description="value of the taint; any value if not given")
    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"] = Field(
        description="NoSchedule, PreferNoSchedule or NoExecute"
    )


GPU_TOLERATION = Toleration(key=GPU, value="present", effect="NoSchedule")
"""Of the taint that keeps all but the engine off instances with GPUs."""


class NodeGroup(Strict):
    """Equal nodes of a cluster that is there, as declared."""

    count: int = Field(ge=1, le=1000, description="number of nodes")
    cpu: float = Field(
        gt=0, le=1024, description="CPU cores one node leaves to our pods (allocatable, less what others use)"
    )
    memory_gib: float = Field(
        gt=0, le=65536, description="GiB one node leaves to our pods (allocatable, less what others use)"
    )
    selector: dict[LabelKey, LabelValue] = Field(min_length=1, description="labels that all nodes of the group have")
    tolerations: tuple[Toleration, ...] = Field((), description="taints of these nodes")
    architecture: Architecture | None = Field(
        None, description="arm64 or amd64; needed only where engine.image names an image for each"
    )
    gpus: int = Field(0, ge=0, le=16, description="GPUs of one node (its allocatable nvidia.com/gpu)")


class InstanceGroup(Strict):
    """Equal EC2 instances, made for this experiment."""

    instance: InstanceName = Field(description="EC2 instance type, for example m7g.2xlarge")
    count: int = Field(ge=1, le=100, description="number of nodes")
    purchase: Literal["on-demand", "spot", "reservation"] = Field(
        "on-demand", description="on-demand, spot or reservation"
    )
    reservation: ReservationId | None = Field(
        None,
        description="the capacity reservation (no capacity block), as cr-0123456789abcdef0, with purchase: reservation",
    )
    disk_gib: int = Field(100, ge=20, le=16384, description="size of each node's gp3 volume in GiB")
    efa: bool = Field(False, description="true or false: Elastic Fabric Adapter, on instance types that have it")
    placement_group: bool = Field(
        False, description="true or false: its nodes are close together, in a placement group"
    )
    spread: bool = Field(
        False, description="true or false: nodes in all of cluster.zones, not in the first alone; traffic then costs"
    )

    @model_validator(mode="after")
    def _reservation_is_named(self) -> Self:
        if (self.purchase == "reservation") != (self.reservation is not None):
            raise PydanticCustomError(
                "reservation",
                "purchase: reservation and a reservation's id go together",
                {"remedy": "Name both, or neither."},
            )
        return self


def groups(nodes: "Nodes") -> tuple[tuple[GroupName, NodeGroup | InstanceGroup], ...]:
    """Return both groups by their name."""
    return ("system", nodes.system), ("engine", nodes.engine)


def gpus(group: NodeGroup | InstanceGroup) -> int:
    """Return the number of GPUs that one node of the group has."""
    if isinstance(group, NodeGroup):
        return group.gpus
    known = instance_types().get(group.instance)
    return known.gpus if known else 0


def architecture(group: NodeGroup | InstanceGroup) -> Architecture | None:
    """Return the architecture of the group's nodes, none if nobody said and nothing is known."""
    if isinstance(group, NodeGroup):
        return group.architecture
    known = instance_types().get(group.instance)
    return known.architecture if known else None


_DECLARED, _INSTANCES = "a declared group", "an instance group"


def _which(value: Any) -> str:
    if isinstance(value, Mapping):
        return _INSTANCES if "instance" in value else _DECLARED
    return _INSTANCES if isinstance(value, InstanceGroup) else _DECLARED


Group = Annotated[
    Annotated[NodeGroup, Tag(_DECLARED)] | Annotated[InstanceGroup, Tag(_INSTANCES)], Discriminator(_which)
]
"""Told apart by whether it names an `instance`."""


@dataclass(frozen=True, kw_only=True)
class Placing:
    """Where pods of a group may go."""

    selector: Mapping[str, str]
    tolerations: tuple[Toleration, ...] = ()


class Nodes(Strict):
    """The two groups: what measures and what is measured never share a node."""

    system: Group = Field(description="nodes of the controller, the add-ons and the benchmark")
    engine: Group = Field(description="nodes of the engine's pods, and of nothing else that works")

    @model_validator(mode="after")
    def _apart(self) -> Self:
        if self.placing("system").selector == self.placing("engine").selector:
            raise PydanticCustomError(
                "same_nodes",
                "system and engine select the same nodes, so the benchmark would take cores from what it measures",
                {"remedy": f"Label the groups apart, for example by {GROUP}."},
            )
        return self

    def placing(self, name: GroupName) -> Placing:
        """Return selector and tolerations of the pods of one group."""
        group: NodeGroup | InstanceGroup = getattr(self, name)
        if isinstance(group, NodeGroup):
            return Placing(selector=group.selector, tolerations=group.tolerations)
        return Placing(selector={GROUP: name}, tolerations=(GPU_TOLERATION,) if gpus(group) else ())
