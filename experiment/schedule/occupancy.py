"""A node with the pods that are on it."""

from experiment.schedule.objects import Node, Pod
from experiment.schedule.outcome import NodeUse

DEFAULT_CPU_MILLICORES = 100
DEFAULT_MEMORY_MIB = 200
"""What a pod without a request weighs when nodes are scored (`pkg/scheduler/util/pod_resources.go`)."""


class Occupancy:
    """A node and what its pods ask for in sum: millicores, MiB and GPUs."""

    def __init__(self, node: Node) -> None:
        self.node = node
        self.pods: list[Pod] = []
        self.cpu_millicores = self.memory_mib = self.gpus = 0
        self.scored_cpu_millicores = self.scored_memory_mib = 0

    def add(self, pod: Pod) -> None:
        """Put a pod on the node, whether or not it fits."""
        self.pods.append(pod)
        self._count(pod, 1)

    def remove_last(self) -> None:
        """Take away the pod that was put there last."""
        self._count(self.pods.pop(), -1)

    def _count(self, pod: Pod, times: int) -> None:
        self.cpu_millicores += times * pod.cpu_millicores
        self.memory_mib += times * pod.memory_mib
        self.gpus += times * pod.gpus
        self.scored_cpu_millicores += times * scored_cpu_millicores(pod)
        self.scored_memory_mib += times * scored_memory_mib(pod)

    def use(self) -> NodeUse:
        """Return the pods and what is left."""
        return NodeUse(
            name=self.node.name,
            pods=tuple(pod.name for pod in self.pods),
            free_cpu_millicores=self.node.cpu_millicores - self.cpu_millicores,
            free_memory_mib=self.node.memory_mib - self.memory_mib,
            free_pods=self.node.pods - len(self.pods),
            free_gpus=self.node.gpus - self.gpus,
        )


def scored_cpu_millicores(pod: Pod) -> int:
    """Return the CPU that a pod weighs when nodes are scored."""
    return pod.cpu_millicores or DEFAULT_CPU_MILLICORES


def scored_memory_mib(pod: Pod) -> int:
    """Return the memory that a pod weighs when nodes are scored."""
    return pod.memory_mib or DEFAULT_MEMORY_MIB
