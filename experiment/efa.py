"""The Elastic Fabric Adapter: who asks for an interface of it, and by what the engine would use it.

Within a node GPUs reach each other without it, and the CPU backend's gloo knows TCP alone. NCCL takes it by way of
AWS's plugin for it (aws-ofi-nccl) and libfabric, which an image has or has not; without them it takes TCP, and all
works as before.
"""

import re

from experiment.nodes import InstanceGroup, NodeGroup, gpus
from experiment.topology import Topology

RESOURCE = "vpc.amazonaws.com/efa"
"""Resource of one interface, as EFA's device plugin tells the kubelet of it."""

ENVIRONMENT = {
    "FI_PROVIDER": "efa",
    "NCCL_DEBUG": "INFO",
    "NCCL_DEBUG_SUBSYS": "INIT,NET",
}
"""libfabric is to take nothing else, and NCCL says at its start which network it took: NET/OFI or NET/Socket."""

_PLAIN = re.compile(r"(^|/)vllm/vllm-openai[:@]")


def interfaces(group: NodeGroup | InstanceGroup, topology: Topology) -> int:
    """Return how many interfaces one engine pod asks for: its node's only one where its group is on several nodes."""
    asked = isinstance(group, InstanceGroup) and group.efa
    return 1 if asked and gpus(group) and topology.size > 1 else 0


def image_lacks_it(image: str) -> bool:
    """Whether an image is vLLM's own, which has NCCL and neither libfabric nor AWS's plugin."""
    return _PLAIN.search(image) is not None
