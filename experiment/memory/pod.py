"""The memory of each engine pod on CPUs, and whether it fits."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from experiment.catalogue.models import Geometry
from experiment.catalogue.weights import stage_weights_gib
from experiment.kv import stages
from experiment.kv.cache import GIB
from experiment.memory.guard import Guard, guard
from experiment.memory.overhead import Overhead, overhead
from experiment.memory.shortage import Shortage, Verdict, shortages


@dataclass(frozen=True, kw_only=True)
class PodMemory:
    """One engine pod.

    Attributes:
        stage: its pipeline stage, from 0.
        layers: how many decoder layers it holds.
        weights_gib: its weights, all ranks together.
        overhead: what the engine takes besides.
        kv_gib: its KV cache, all ranks together.
        shared_memory_gib: size of its /dev/shm, which is charged as it fills: not at all at best, all of it at worst.
        low_gib: what its processes take, at least.
        high_gib: the same, at most.
        limit_gib: its memory limit, which is also its request.
        headroom_gib: what the limit leaves at worst, page cache not counted; negative if it is too little.
        guard: what the engine's guard sees when the weights are loaded.
        node_left_gib: what the node has left for the pod's request; None if it is not known.
        shortages: where memory is too little.
    """

    stage: int
    layers: int
    weights_gib: float
    overhead: Overhead
    kv_gib: float
    shared_memory_gib: float
    low_gib: float
    high_gib: float
    limit_gib: float
    headroom_gib: float
    guard: Guard
    node_left_gib: float | None
    shortages: tuple[Shortage, ...]

    @property
    def verdict(self) -> Verdict:
        """Whether the pod fits."""
        if any(shortage.certain for shortage in self.shortages):
            return Verdict.REFUSED
        return Verdict.PERHAPS if self.shortages else Verdict.FITS

    @property
    def most_kv_gib(self) -> tuple[float, float]:
        """The largest KV cache that certainly finds room, and the largest that may, all ranks together."""
        sure = min(self.guard.worst_gib, self.limit_gib - self.high_gib + self.kv_gib)
        perhaps = min(self.guard.best_gib, self.limit_gib - self.low_gib + self.kv_gib)
        return max(0.0, sure), max(0.0, perhaps)


def pods(
    geometry: Geometry,
    *,
    kv_bytes: int,
    limit_gib: float,
    dtype: str = "bfloat16",
    pipeline: int = 1,
    tensor: int = 1,
    shared_memory_gib: float = 0.0,
    node_left_gib: float | None = None,
    host_gib: float | None = None,
    own_page_cache: bool = False,
    encoder: bool = False,
    checkpoint_gib: float | None = None,
    partition: Sequence[int] | None = None,
) -> tuple[PodMemory, ...]:
    """Return the memory of each pod of one copy of a model, one pod a pipeline stage.

    Args:
        geometry: the model.
        kv_bytes: bytes of the KV cache of each rank.
        limit_gib: GiB of a pod's memory limit and request.
        dtype: of the weights, as of `Geometry.weights_gib`.
        pipeline: number of stages.
        tensor: tensor-parallel ranks in each pod.
        shared_memory_gib: GiB of a pod's /dev/shm.
        node_left_gib: GiB of requests that the node of a pod has left for it; None if it is not known.
        host_gib: GiB of a pod's node that other pods and the system leave; None if it is more than the limit.
        own_page_cache: whether each pod fetches the weights itself at every start, so that it is charged for their page
            cache; else another may have been the last to read them.
        encoder: whether encoders of images and sound are loaded.
        checkpoint_gib: GiB of the files of the weights, if they are stored otherwise than they are kept.
        partition: layers of each stage, if `VLLM_PP_LAYER_PARTITION` is set.

    Raises:
        SplitbedError: the model cannot be split like this, or nothing is known of the dtype.
    """
    sizes = stages.sizes(geometry.layers, pipeline, partition)
    weights = stage_weights_gib(geometry, dtype, sizes, encoder=encoder)
    whole = geometry.weights_gib(dtype)
    kv = kv_bytes * tensor / GIB
    made = []
    for stage, held in enumerate(weights):
        besides = _beyond_weights(overhead(whole, tensor=tensor), geometry, dtype, stage, pipeline)
        low, high = held + besides.low_gib, held + besides.high_gib + shared_memory_gib
        seen = guard(
            limit_gib=limit_gib,
            low_gib=low,
            high_gib=high,
            checkpoint_gib=whole if checkpoint_gib is None else checkpoint_gib,
            host_gib=host_gib,
            own_page_cache=own_page_cache,
        )
        made.append(
            PodMemory(
                stage=stage,
                layers=sizes[stage],
                weights_gib=held,
                overhead=besides,
                kv_gib=kv,
                shared_memory_gib=shared_memory_gib,
                low_gib=low + kv,
                high_gib=high + kv,
                limit_gib=limit_gib,
                headroom_gib=limit_gib - high - kv,
                guard=seen,
                node_left_gib=node_left_gib,
                shortages=shortages(
                    low_gib=low + kv,
                    high_gib=high + kv,
                    kv_gib=kv,
                    limit_gib=limit_gib,
                    guard=seen,
                    node_left_gib=node_left_gib,
                ),
            )
        )
    return tuple(made)


def _beyond_weights(measured: Overhead, geometry: Geometry, dtype: str, stage: int, pipeline: int) -> Overhead:
    """Take out of the overhead what is counted as weights here.

    The posts measured pods of two stages, and called overhead what they took beyond half of the weights; but each
    stage of a model with tied embeddings has all of them, so that half of the embedding was among it.
    """
    copied = geometry.tied_embeddings and (geometry.embedding_everywhere or stage in (0, pipeline - 1))
    if pipeline == 1 or not copied:
        return measured
    half = geometry.embedding_gib(dtype) / 2
    return replace(
        measured,
        low_gib=measured.low_gib - half,
        high_gib=measured.high_gib - half,
        how=f"{measured.how}; less {half:.2f} GiB, the half of the embedding that was measured among it",
    )
