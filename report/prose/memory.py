"""Where the memory of a pod goes, and how fast it must have been read."""

from collections.abc import Iterable
from dataclasses import dataclass

from experiment.measure.pods import Pod
from experiment.record import RepeatRecord
from report.prose.speed import one_user

GIB = 2**30


@dataclass(frozen=True, kw_only=True)
class PodMemory:
    """Memory of one pod, in GiB.

    Attributes:
        charged: what its limit is held against, page cache included.
        process: what only its processes can give back, shared memory included.
        page_cache: of files, which the kernel gives back at once.
        headroom: what is left of the limit when the page cache has gone; None without a limit.
    """

    charged: float
    process: float
    page_cache: float
    headroom: float | None


def memory_of(pod: Pod) -> PodMemory | None:
    """Return a pod's memory as it was after the repeat; None where its kernel does not tell."""
    if pod.after is None:
        return None
    found = pod.after.memory
    parts = found.used_bytes, found.process_bytes, found.page_cache_bytes
    if any(part is None for part in parts):
        return None
    charged, process, cache = (float(part or 0) for part in parts)
    own = process + (found.shared_bytes or 0)
    return PodMemory(
        charged=charged / GIB,
        process=own / GIB,
        page_cache=cache / GIB,
        headroom=None if found.limit_bytes is None else (found.limit_bytes - own) / GIB,
    )


def overhead_gib(memory: PodMemory, *, weights_gib: float, kv_cache_gib: float) -> float:
    """Return what a pod holds besides its weights and its KV cache: what splitting does not divide.

    Args:
        memory: of the pod.
        weights_gib: of its stage, by the plan.
        kv_cache_gib: as the stack asked for.
    """
    return memory.process - weights_gib - kv_cache_gib


def bandwidth_gb_s(records: Iterable[RepeatRecord], weights_gib: float) -> float | None:
    """Return at which rate weights must have been read, in GB/s: each token reads them all once, stage after stage.

    Of a model that is limited by software it says nothing of the memory, and the hops between stages are in it.

    Args:
        records: of one run.
        weights_gib: of the whole model.
    """
    found = one_user(records)
    return None if found is None else weights_gib * GIB / 1e9 * found.median
