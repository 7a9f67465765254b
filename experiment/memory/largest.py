"""The largest KV cache and the longest context for which pods have room."""

from collections.abc import Sequence
from dataclasses import dataclass

from experiment.kv.cache import GIB
from experiment.kv.pool import Pool
from experiment.memory.pod import PodMemory


@dataclass(frozen=True, kw_only=True)
class Largest:
    """What would fit.

    Attributes:
        kv_bytes: bytes of KV cache that each rank can be given, exactly (`--kv-cache-memory-bytes`).
        space_gib: the same in the whole GiB of `VLLM_CPU_KVCACHE_SPACE`; 0 if not even one fits.
        max_model_len: the longest request in tokens that so many bytes hold, up to the limit that was given.
    """

    kv_bytes: int
    space_gib: int
    max_model_len: int


@dataclass(frozen=True, kw_only=True)
class Room:
    """What fits for certain, and what may.

    Attributes:
        sure: even if the pod is charged for the page cache of the weights, and takes as much as was ever measured.
        perhaps: if neither is so.
    """

    sure: Largest
    perhaps: Largest


def room(pods: Sequence[PodMemory], pool: Pool, *, longest: int, tensor: int = 1) -> Room:
    """Return the largest KV cache and the longest request for which every pod of a copy has room.

    Args:
        pods: the pods of one copy, at least one.
        pool: the blocks of the server.
        longest: tokens that the model was made for, or that are of interest; no longer request is looked for.
        tensor: tensor-parallel ranks in each pod, which share its memory.
    """
    sure, perhaps = (min(bounds) for bounds in zip(*(pod.most_kv_gib for pod in pods), strict=True))
    return Room(sure=largest(sure / tensor, pool, longest), perhaps=largest(perhaps / tensor, pool, longest))


def largest(gib: float, pool: Pool, longest: int) -> Largest:
    """Return what so many GiB in each rank hold, requests up to `longest` tokens."""
    kv_bytes = int(gib * GIB)
    blocks = kv_bytes // max(pool.unit_bytes)
    return Largest(kv_bytes=kv_bytes, space_gib=int(gib), max_model_len=pool.longest(max(0, blocks - 1), longest))
