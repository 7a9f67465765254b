"""Clusters of this machine behind those of the doubles: real control planes, and nodes of true size by kwok."""

import time
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from experiment.catalogue.allocatable import allocatable
from experiment.catalogue.instances import instance_type
from rehearsal.aws.controlplane import ControlPlane, ControlPlaneError
from rehearsal.aws.kubernetes import Account, Application, Node
from rehearsal.aws.manager import Manager
from rehearsal.cluster.api import ApiError
from rehearsal.cluster.kwok import ANNOTATION

_READY_S = 60.0


@dataclass
class Local:
    """A control plane for each cluster, below one directory.

    Attributes:
        tools: a binary for each of `controlplane.PROGRAMS`.
        directory: where clusters have their files; its path must be short, for a socket is in it.
    """

    tools: Mapping[str, Path]
    directory: Path
    planes: dict[str, tuple[ControlPlane, Manager]] = field(default_factory=dict)

    def up(self, cluster: str) -> tuple[str, str]:
        """Start a cluster; return its address and its authority's certificate, as base64."""
        plane = ControlPlane(self.tools, self.directory / cluster)
        self.planes[cluster] = plane, Manager(plane)
        return plane.server, plane.authority

    def down(self, cluster: str) -> None:
        """End it with everything in it; one that is not there is none."""
        if cluster in self.planes:
            plane, manager = self.planes.pop(cluster)
            manager.stop()
            plane.stop()

    def node_up(self, cluster: str, node: Node) -> None:
        """Have a node join it, and wait until it is ready."""
        api = self.planes[cluster][0].api
        path = f"/api/v1/nodes/{node.name}"
        architecture = instance_type(node.instance_type).architecture
        api.apply(path, node.document(node.name, architecture, {ANNOTATION: "fake"}))
        api.apply(f"{path}/status", _status(node))
        deadline = time.monotonic() + _READY_S
        while not _ready(api.get(path)):
            if time.monotonic() > deadline:
                raise ControlPlaneError(f"The node {node.name} is not ready after {_READY_S:.0f} s.")
            time.sleep(0.1)

    def node_down(self, cluster: str, node: str) -> None:
        """Take a node away by its name; its pods go as the cluster finds out."""
        if cluster in self.planes:
            with suppress(ApiError):
                self.planes[cluster][0].api.delete(f"/api/v1/nodes/{node}")

    def opened(self, services: Application) -> AbstractContextManager[None]:  # noqa: ARG002
        """Pods only pretend: none has anything to ask."""
        return nullcontext()

    def account(self, token: str) -> Account | None:  # noqa: ARG002
        """Pods only pretend: none has a token."""
        return None


def _status(node: Node) -> dict[str, Any]:
    instance = instance_type(node.instance_type)
    found = allocatable(instance)
    size = {"cpu": f"{found.cpu_millicores}m", "memory": f"{found.memory_mib}Mi", "pods": str(found.pods)}
    # As the device plugins would say it, whose pods only pretend.
    devices = {"nvidia.com/gpu": instance.gpus, "vpc.amazonaws.com/efa": node.efa}
    size |= {name: str(count) for name, count in devices.items() if count}
    metadata = {"name": node.name}
    return {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "status": {"allocatable": size, "capacity": size}}


def _ready(node: dict[str, Any]) -> bool:
    conditions = node.get("status", {}).get("conditions", [])
    return any(one["type"] == "Ready" and one["status"] == "True" for one in conditions)
