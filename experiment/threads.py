"""Threads that compute, of an engine on CPUs.

vLLM 0.31.0 (`vllm/utils/ompmultiprocessing.py`) looks at the cores that a process may run on, which is all cores of the
node unless the kubelet gave the pod cores of its own, and never at the pod's quota. Where it binds threads itself
(`VLLM_CPU_OMP_THREADS_BIND=auto`, its default) each rank takes the cores of one NUMA node, on x86 one thread of each
core, and leaves `VLLM_CPU_NUM_OF_RESERVED_CPU` free, one for each rank if not given. With `nobind` it takes as many as
`OMP_NUM_THREADS` says, on whatever core.
"""

import re
from collections.abc import Mapping
from math import floor
from typing import Literal

from experiment.catalogue.instances import InstanceType

Threads = Literal["free", "within-quota", "whole-cores"]

VARIABLES = frozenset({"VLLM_CPU_OMP_THREADS_BIND", "VLLM_CPU_NUM_OF_RESERVED_CPU", "OMP_NUM_THREADS"})

# AMD's of the seventh generation and after: a vCPU is a core (EC2 User Guide, "CPU options for EC2 instances").
_ONE_THREAD_A_CORE = re.compile(r"[cmr][78]a\w*\.")


def variables(threads: Threads, cpu: float, ranks: int) -> Mapping[str, str]:
    """Return the environment variables that make the engine take so many threads.

    Args:
        threads: the setting.
        cpu: cores of the pod's quota.
        ranks: how many workers compute in one pod.
    """
    match threads:
        case "free":
            return {}
        case "within-quota":
            # Not bound: two pods of one node would bind themselves to the same first cores.
            return {"VLLM_CPU_OMP_THREADS_BIND": "nobind", "OMP_NUM_THREADS": str(_within(cpu, ranks))}
        case "whole-cores":
            return {"VLLM_CPU_OMP_THREADS_BIND": "auto", "VLLM_CPU_NUM_OF_RESERVED_CPU": str(ranks)}


def compute_threads(threads: Threads, cpu: float, ranks: int, instance: InstanceType) -> int:
    """Return how many threads of one pod compute, all its ranks together.

    Args:
        threads: the setting.
        cpu: cores of the pod's quota.
        ranks: how many workers compute in one pod.
        instance: the node's type.
    """
    if threads == "within-quota":
        return ranks * _within(cpu, ranks)
    seen = floor(cpu) if threads == "whole-cores" else instance.vcpus
    cores = seen if has_one_thread_a_core(instance) else seen // 2
    return max(ranks, cores - ranks) if cores > ranks else cores


def has_one_thread_a_core(instance: InstanceType) -> bool:
    """Return whether a vCPU of the type is a core of its own, not one of two threads on it."""
    return instance.architecture == "arm64" or _ONE_THREAD_A_CORE.match(instance.name) is not None


def _within(cpu: float, ranks: int) -> int:
    """Return threads of one rank: a core of the quota a rank is left to API server and engine loop, as vLLM does."""
    return max(1, (floor(cpu) - ranks) // ranks)
