"""The nodes an experiment may count on, as declared; nothing here looks at a cluster."""

from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, model_validator
from pydantic_core import PydanticCustomError

from experiment.strict import Strict

_NAME = r"[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?"
LabelKey = Annotated[
    str, StringConstraints(pattern=rf"^([a-z0-9]([a-z0-9.-]{{0,251}}[a-z0-9])?/)?{_NAME}$", max_length=317)
]
LabelValue = Annotated[str, StringConstraints(pattern=rf"^({_NAME})?$")]


class Toleration(Strict):
    """A taint of the nodes that pods of the group put up with."""

    key: LabelKey = Field(description="key of the taint")
    value: LabelValue | None = Field(None, description="value of the taint; any value if not given")
    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"] = Field(
        description="NoSchedule, PreferNoSchedule or NoExecute"
    )


class NodeGroup(Strict):
    """Equal nodes."""

    count: int = Field(ge=1, le=1000, description="number of nodes")
    cpu: float = Field(gt=0, description="CPU cores one node leaves to our pods (allocatable, less what others use)")
    memory_gib: float = Field(gt=0, description="GiB one node leaves to our pods (allocatable, less what others use)")
    selector: dict[LabelKey, LabelValue] = Field(min_length=1, description="labels that all nodes of the group have")
    tolerations: tuple[Toleration, ...] = Field((), description="taints of these nodes")


class Nodes(Strict):
    """The two groups: what measures and what is measured never share a node."""

    system: NodeGroup = Field(description="nodes of the controller and the benchmark")
    engine: NodeGroup = Field(description="nodes of the engine's pods, and of nothing else that works")

    @model_validator(mode="after")
    def _apart(self) -> Self:
        if self.system.selector == self.engine.selector:
            raise PydanticCustomError(
                "same_nodes",
                "system and engine select the same nodes, so the benchmark would take cores from what it measures",
                {"remedy": "Label the groups apart, for example by splitbed.dev/group."},
            )
        return self
