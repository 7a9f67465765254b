"""The engine's own guard on CPUs: how much memory it believes to be left when it comes to the KV cache.

It takes the smaller of two numbers (`utils/cpu_resource_utils.py: get_memory_node_info` of vLLM 0.31.0): what the host
has free, its page cache and reclaimable slab included, and the pod's limit less what the pod is charged for. Page
cache counts as available in the first and as taken in the second, though the kernel would give it back.
"""

from dataclasses import dataclass

from experiment.expectation.parameter import Parameter

FULL_LEADER = Parameter(
    name="what the guard sees of a pod full of page cache, at worst",
    value=0.58,
    unit="GiB",
    source="the 12B post: of 26 GiB, on the leader",
)
FULL_WORKER = Parameter(
    name="what the guard sees of a pod full of page cache, at best",
    value=0.97,
    unit="GiB",
    source="the 12B post: of 26 GiB, on the worker",
)


@dataclass(frozen=True, kw_only=True)
class Guard:
    """What the guard may see when the weights are loaded.

    Attributes:
        best_gib: most.
        worst_gib: least.
        page_cache_gib: page cache of the checkpoint that the pod is charged for at worst.
        own_page_cache: whether it certainly is: the pod itself fetches the weights.
    """

    best_gib: float
    worst_gib: float
    page_cache_gib: float
    own_page_cache: bool


def guard(
    *,
    limit_gib: float,
    low_gib: float,
    high_gib: float,
    checkpoint_gib: float,
    host_gib: float | None = None,
    own_page_cache: bool = False,
) -> Guard:
    """Return what the guard sees at best and at worst.

    Who read or wrote the files of the weights last is charged for them. That is the pod itself where it fetches them at
    every start; where they lie on the node already, it may be another one, which is the best case.

    Args:
        limit_gib: GiB of the pod's memory limit.
        low_gib: GiB that its processes take before there is a KV cache, at least.
        high_gib: the same, at most.
        checkpoint_gib: GiB of the files: each rank goes through all of them, whatever it keeps.
        host_gib: GiB of the node that other pods and the system leave; None if it is more than the limit.
        own_page_cache: whether the pod certainly is the last to read them.
    """
    host = limit_gib if host_gib is None else host_gib
    most_room, least_room = (max(0.0, limit_gib - taken) for taken in (low_gib, high_gib))
    best = _beside(checkpoint_gib, most_room, FULL_WORKER) if own_page_cache else most_room
    worst = _beside(checkpoint_gib, least_room, FULL_LEADER)
    return Guard(
        best_gib=max(0.0, min(best, host - low_gib)),
        worst_gib=max(0.0, min(worst, host - high_gib)),
        page_cache_gib=least_room - worst,
        own_page_cache=own_page_cache,
    )


def _beside(checkpoint_gib: float, room_gib: float, full: Parameter) -> float:
    """Return what page cache leaves of a room: of a full pod a little, since the kernel keeps reclaiming."""
    return max(room_gib - checkpoint_gib, min(room_gib, full.value))
