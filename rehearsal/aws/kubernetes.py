"""What stands behind a cluster of the doubles: a Kubernetes of this machine, or nothing but an address."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True)
class Node:
    """A node as its group has it.

    Attributes:
        name: of the Node object.
        instance: id of the instance in EC2.
        instance_type: such as `m7g.2xlarge`.
        zone: such as `us-east-1a`.
        labels: those of the group.
        taints: key, value and effect of each, as Kubernetes spells them.
        efa: its interfaces of the Elastic Fabric Adapter.
    """

    name: str
    instance: str
    instance_type: str
    zone: str
    labels: Mapping[str, str] = field(default_factory=dict)
    taints: Sequence[tuple[str, str, str]] = ()
    efa: int = 0


class Kubernetes(Protocol):
    """Makes the clusters that EKS is asked for."""

    def up(self, cluster: str) -> tuple[str, str]:
        """Start a cluster; return its address and its authority's certificate, as base64."""

    def down(self, cluster: str) -> None:
        """End it with everything in it; one that is not there is none."""

    def node_up(self, cluster: str, node: Node) -> None:
        """Have a node join it."""

    def node_down(self, cluster: str, node: str) -> None:
        """Take a node away by its name."""


@dataclass
class Paper:
    """Clusters on paper: an address at which nobody listens, and nodes by name."""

    nodes: dict[str, dict[str, Node]] = field(default_factory=dict)

    def up(self, cluster: str) -> tuple[str, str]:
        """Note it down."""
        self.nodes[cluster] = {}
        return "https://127.0.0.1:1", "bm8gY2VydGlmaWNhdGU="

    def down(self, cluster: str) -> None:
        """Strike it out."""
        self.nodes.pop(cluster, None)

    def node_up(self, cluster: str, node: Node) -> None:
        """Note it down."""
        self.nodes[cluster][node.name] = node

    def node_down(self, cluster: str, node: str) -> None:
        """Strike it out."""
        self.nodes.get(cluster, {}).pop(node, None)
