"""What stands behind a cluster of the doubles: a Kubernetes of this machine, or nothing but an address."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any, Protocol

Application = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]
"""What answers HTTP requests, as WSGI has it."""


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

    def document(self, name: str, architecture: str, annotations: Mapping[str, str]) -> dict[str, Any]:
        """Return the Node object.

        Args:
            name: of the object, where it is another than the instance's.
            architecture: of its processor, which is another than the instance's where only its size is played.
            annotations: of the object.
        """
        labels = {
            "kubernetes.io/hostname": name,
            "kubernetes.io/os": "linux",
            "kubernetes.io/arch": architecture,
            "node.kubernetes.io/instance-type": self.instance_type,
            "topology.kubernetes.io/zone": self.zone,
            "topology.kubernetes.io/region": self.zone[:-1],
            **self.labels,
        }
        taints = [{"key": key, "value": value, "effect": effect} for key, value, effect in self.taints]
        return {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": name, "labels": labels, "annotations": dict(annotations)},
            "spec": {"providerID": f"aws:///{self.zone}/{self.instance}", **({"taints": taints} if taints else {})},
        }


@dataclass(frozen=True)
class Account:
    """A service account of a cluster."""

    cluster: str
    namespace: str
    name: str


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

    def opened(self, services: Application) -> AbstractContextManager[None]:
        """Let pods reach AWS's services, if there are pods that run, until the end of the block."""

    def account(self, token: str) -> Account | None:
        """Return whose token this is, if it is one for AWS's Pod Identity, of a pod that is there."""


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

    def opened(self, services: Application) -> AbstractContextManager[None]:  # noqa: ARG002
        """Nobody is there to reach them."""
        return nullcontext()

    def account(self, token: str) -> Account | None:  # noqa: ARG002
        """Nobody has one."""
        return None
