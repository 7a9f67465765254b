"""How the model is laid out over pods.

Every topology is so many groups of so many pods: the pods of a group serve one copy of the model together, and each is
on a node of its own.
"""

from typing import Annotated, Literal

from pydantic import Field

from experiment.strict import Strict

Tensor = Annotated[
    int,
    Field(ge=1, le=64, description="parts into which each layer is divided inside a pod: one GPU each, or NUMA node"),
]


class NoTopology(Strict):
    """Nothing is served: nodes, controller and volumes only."""

    kind: Literal["none"] = Field(description="none, single, replicas or split")

    @property
    def tensor(self) -> int:
        """Parts of each layer in a pod."""
        return 1

    @property
    def groups(self) -> int:
        """Copies of the model."""
        return 0

    @property
    def size(self) -> int:
        """Pods in a group."""
        return 1


class Single(Strict):
    """One pod holds the whole model."""

    kind: Literal["single"] = Field(description="none, single, replicas or split")
    tensor: Tensor = 1

    @property
    def groups(self) -> int:
        """Copies of the model."""
        return 1

    @property
    def size(self) -> int:
        """Pods in a group."""
        return 1


class Replicas(Strict):
    """Several pods, each with a whole copy, behind one Service."""

    kind: Literal["replicas"] = Field(description="none, single, replicas or split")
    count: int = Field(ge=2, le=1000, description="number of copies, at least 2")
    tensor: Tensor = 1

    @property
    def groups(self) -> int:
        """Copies of the model."""
        return self.count

    @property
    def size(self) -> int:
        """Pods in a group."""
        return 1


class Split(Strict):
    """One copy, its layers divided into pipeline stages, one stage a pod."""

    kind: Literal["split"] = Field(description="none, single, replicas or split")
    pipeline: int = Field(ge=2, le=1000, description="number of pipeline stages, at least 2")
    tensor: Tensor = 1

    @property
    def groups(self) -> int:
        """Copies of the model."""
        return 1

    @property
    def size(self) -> int:
        """Pods in a group."""
        return self.pipeline


Topology = Annotated[NoTopology | Single | Replicas | Split, Field(discriminator="kind")]
