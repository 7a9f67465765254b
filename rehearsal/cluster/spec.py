"""What a rehearsal cluster consists of."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from experiment.errors import SplitbedError
from experiment.labels import GROUP

_NAME = re.compile(r"[a-z0-9]([-a-z0-9]{0,38}[a-z0-9])?")


class Image(Protocol):
    """A container image as an archive that `ctr images import` reads."""

    @property
    def reference(self) -> str:
        """The full reference that pods name."""

    @property
    def archive(self) -> Path:
        """A docker archive or an OCI layout in a tar file."""


def check_name(kind: str, name: str) -> None:
    """Raise `SplitbedError` unless `name` can be a host name, a directory and a cgroup."""
    if not _NAME.fullmatch(name):
        raise SplitbedError(
            f"{kind} name {name!r} cannot be used.",
            "Take at most 40 lower-case letters, digits and inner hyphens.",
        )


@dataclass(frozen=True)
class NodeSpec:
    """One node with a kubelet and a containerd of its own.

    Attributes:
        name: its name, and the host name of its pods' node.
        labels: labels of the Node object.
        shown: directories of this machine that every container on the node sees read-only, by their path in the
            container: what is too large for an image. The node gives them, pods neither ask for nor know of it.
        joins: whether its kubelet makes the Node object, and the cluster is not ready without; else the kubelet waits
            for somebody to make it, with what labels and taints it is to have.
    """

    name: str
    labels: Mapping[str, str] = field(default_factory=dict)
    shown: Mapping[str, str] = field(default_factory=dict)
    joins: bool = True

    def __post_init__(self) -> None:
        check_name("node", self.name)


DEFAULT_NODES = (
    NodeSpec("system-0", {GROUP: "system"}),
    NodeSpec("engine-0", {GROUP: "engine"}),
    NodeSpec("engine-1", {GROUP: "engine"}),
)


@dataclass(frozen=True)
class Outlet:
    """A way from a cluster's network to something outside, of which there is none else.

    Attributes:
        address: in the cluster's network, of its own.
        port: of that address.
        socket: path of a unix socket of the host, where somebody is to listen.
    """

    address: str
    port: int
    socket: str


@dataclass(frozen=True)
class ClusterSpec:
    """A cluster.

    Attributes:
        name: unique in one home.
        nodes: at least one and at most 100.
        outlets: ways out of its network.
        token: of an administrator, who signs in by it besides the certificate in the kubeconfig; none if empty.
    """

    name: str
    nodes: tuple[NodeSpec, ...] = DEFAULT_NODES
    outlets: tuple[Outlet, ...] = ()
    token: str = ""

    def __post_init__(self) -> None:
        check_name("cluster", self.name)
        names = [node.name for node in self.nodes]
        if not 1 <= len(names) <= 100 or len(set(names)) != len(names):
            raise SplitbedError(
                f"cluster {self.name} asks for the nodes {', '.join(names) or '(none)'}.",
                "Name 1 to 100 nodes, each once.",
            )


@dataclass(frozen=True)
class KwokNode:
    """A node that only pretends: the scheduler sees its size, kwok answers for its pods.

    Pods land on it like on any other node, so label it, and let only those that are to pretend select that label.

    Attributes:
        name: the node's name.
        cpu: allocatable CPU as a Kubernetes quantity, such as `7910m`.
        memory: allocatable memory as a Kubernetes quantity, such as `29382Mi`.
        pods: how many pods it takes.
        labels: further labels.
        instance_type: value of `node.kubernetes.io/instance-type`.
    """

    name: str
    cpu: str
    memory: str
    pods: int
    labels: Mapping[str, str] = field(default_factory=dict)
    instance_type: str = ""

    def __post_init__(self) -> None:
        check_name("node", self.name)
