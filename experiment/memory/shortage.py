"""What a pod's memory does not fit."""

from dataclasses import dataclass
from enum import StrEnum

from experiment.memory.guard import Guard

_BYTE = 2**-30
"""In GiB: less is no shortage, and what sums of floats are off by."""


class Verdict(StrEnum):
    """Whether something fits."""

    FITS = "fits"
    PERHAPS = "perhaps"
    REFUSED = "refused"


class Cause(StrEnum):
    """Where memory is short."""

    LIMIT = "limit"
    GUARD = "guard"
    NODE = "node"


@dataclass(frozen=True, kw_only=True)
class Shortage:
    """Too little memory, certainly or perhaps.

    Attributes:
        cause: the pod's limit (it would be killed), the engine's guard (it would refuse to start), or the node (it
            would stay Pending).
        short_gib: by how much, at worst.
        certain: whether it is too little even at best.
        sentence: the same in words.
    """

    cause: Cause
    short_gib: float
    certain: bool
    sentence: str


def shortages(
    *, low_gib: float, high_gib: float, kv_gib: float, limit_gib: float, guard: Guard, node_left_gib: float | None
) -> tuple[Shortage, ...]:
    """Return where the memory of a pod is short; nothing if nowhere.

    Args:
        low_gib: GiB that its processes take with the KV cache, at least.
        high_gib: the same, at most.
        kv_gib: GiB of the KV cache.
        limit_gib: GiB of its limit.
        guard: what the engine's guard sees.
        node_left_gib: GiB of requests that its node has left; None if it is not known.
    """
    found = []
    if node_left_gib is not None and limit_gib > node_left_gib + _BYTE:
        found.append(
            Shortage(
                cause=Cause.NODE,
                short_gib=limit_gib - node_left_gib,
                certain=True,
                sentence=f"the pod asks for {limit_gib:g} GiB and its node has {node_left_gib:.1f} GiB left",
            )
        )
    if high_gib > limit_gib + _BYTE:
        found.append(
            Shortage(
                cause=Cause.LIMIT,
                short_gib=high_gib - limit_gib,
                certain=low_gib > limit_gib + _BYTE,
                sentence=f"its processes take {low_gib:.1f} to {high_gib:.1f} GiB of a limit of {limit_gib:g} GiB",
            )
        )
    # A pod that is killed is never asked.
    if kv_gib > guard.worst_gib + _BYTE and low_gib <= limit_gib:
        found.append(
            Shortage(
                cause=Cause.GUARD,
                short_gib=kv_gib - guard.worst_gib,
                certain=kv_gib > guard.best_gib + _BYTE,
                sentence=_guard_sentence(kv_gib, guard),
            )
        )
    return tuple(found)


def _guard_sentence(kv_gib: float, guard: Guard) -> str:
    who = "which this pod fetches itself" if guard.own_page_cache else "if this pod is the last to read them"
    return (
        f"the engine asks for {kv_gib:.2f} GiB of KV cache and sees {guard.worst_gib:.2f} to {guard.best_gib:.2f} GiB: "
        f"it counts as taken {guard.page_cache_gib:.1f} GiB of page cache of the weights, {who}"
    )
