"""What a pod of several containers asks for."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Request:
    """What one container asks for.

    Attributes:
        cpu_millicores: thousandths of a core.
        memory_mib: MiB.
        gpus: `nvidia.com/gpu`.
        sidecar: an init container that stays (`restartPolicy: Always`).
    """

    cpu_millicores: int = 0
    memory_mib: int = 0
    gpus: int = 0
    sidecar: bool = False

    def __add__(self, other: "Request") -> "Request":
        return Request(
            cpu_millicores=self.cpu_millicores + other.cpu_millicores,
            memory_mib=self.memory_mib + other.memory_mib,
            gpus=self.gpus + other.gpus,
        )

    def __or__(self, other: "Request") -> "Request":
        """Return the greater of each amount."""
        return Request(
            cpu_millicores=max(self.cpu_millicores, other.cpu_millicores),
            memory_mib=max(self.memory_mib, other.memory_mib),
            gpus=max(self.gpus, other.gpus),
        )


def effective(containers: Sequence[Request], init_containers: Sequence[Request] = ()) -> Request:
    """Return what the pod asks for, amount by amount.

    Containers and sidecars run together and add up; an init container runs alone but for the sidecars that stand
    before it, so it counts only where it wants more (`PodRequests` in `k8s.io/component-helpers/resource`).
    """
    sidecars = greatest = Request()
    for one in init_containers:
        if one.sidecar:
            sidecars = sidecars + one
            greatest = greatest | sidecars
        else:
            greatest = greatest | (sidecars + one)
    return sum(containers, sidecars) | greatest
