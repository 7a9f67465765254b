"""What is said of pods and nodes; plain data, which `dataclasses.asdict` turns into JSON."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Reason:
    """Why so many nodes do not take a pod, in the scheduler's own words."""

    text: str
    nodes: int


@dataclass(frozen=True, kw_only=True)
class Pending:
    """A pod that finds no node.

    Attributes:
        pod: its name.
        owner: what it is for.
        reasons: in the order of the scheduler's event; a node that lacks two things is in two of them.
        message: the whole text of that event.
    """

    pod: str
    owner: str
    reasons: tuple[Reason, ...]
    message: str


@dataclass(frozen=True, kw_only=True)
class NodeUse:
    """A node, the names of the pods on it, and what it has left."""

    name: str
    pods: tuple[str, ...]
    free_cpu_millicores: int
    free_memory_mib: int
    free_pods: int
    free_gpus: int


@dataclass(frozen=True, kw_only=True)
class Assignment:
    """Where every pod is."""

    nodes: tuple[NodeUse, ...]
    pending: tuple[Pending, ...]

    @property
    def node_of(self) -> dict[str, str]:
        """The node's name by the name of every pod that has one."""
        return {pod: node.name for node in self.nodes for pod in node.pods}
