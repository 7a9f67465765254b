"""The memory of each GPU and the KV cache that it is left with, from the stack's settings."""

from collections.abc import Iterator

from experiment.catalogue.instances import instance_type
from experiment.catalogue.models import Geometry
from experiment.catalogue.weights import stage_weights_gib
from experiment.engine import KvCacheUtilization
from experiment.kv import gpu, layers, stages
from experiment.kv.gpu import GpuKvCache
from experiment.nodes import InstanceGroup
from experiment.plan import flags
from experiment.plan.cache import Cache
from experiment.plan.memory import EACH_GPU, Memory, Share, StageMemory
from experiment.settings import Settings


def left(settings: Settings, geometry: Geometry, *, pipeline: int, tensor: int) -> GpuKvCache | None:
    """Return what is left of each GPU for the KV cache; None where the GPUs' memory is not known.

    Raises:
        SplitbedError: the engine cannot lay the model out like this.
    """
    group, engine = settings.nodes.engine, settings.engine
    if not isinstance(group, InstanceGroup):
        return None
    instance = instance_type(group.instance)
    held = stages.sizes(geometry.layers, pipeline)
    dtype = flags.text(engine, "kv-cache-dtype", "auto")
    kv_cache = engine.kv_cache
    return gpu.kv_cache(
        layers.of(geometry),
        gpu_memory_mib=instance.gpu_memory_mib,
        stage_weights_gib=stage_weights_gib(
            geometry, flags.weights_dtype(engine), held, encoder=geometry.multimodal and not flags.inputs_off(engine)
        ),
        max_model_len=engine.max_model_len,
        tensor=tensor,
        utilization=kv_cache.fraction if isinstance(kv_cache, KvCacheUtilization) else gpu.UTILIZATION,
        dtype=flags.model_dtype(engine) if dtype == "auto" else dtype,
        max_num_batched_tokens=flags.whole(engine, "max-num-batched-tokens"),
        max_num_seqs=flags.whole(engine, "max-num-seqs"),
        async_scheduling=engine.async_scheduling,
        block_tokens=flags.whole(engine, "block-size") or gpu.BLOCK_TOKENS,
        gpu_name=instance.gpu_name,
    )


def cache_of(found: GpuKvCache) -> Cache | None:
    """Return what a plan says of it; None if nothing is left."""
    return Cache.of(found.cache, exact=False, assumptions=tuple(_said(found))) if found.cache else None


def _said(found: GpuKvCache) -> Iterator[str]:
    """Return what the estimate stands on, a line for each source."""
    for source in dict.fromkeys(one.source for one in found.assumptions):
        named = [f"{one.name} {one.value:.3g} {one.unit}" for one in found.assumptions if one.source == source]
        yield f"{', '.join(named)}: {source}"


def memory_of(found: GpuKvCache, geometry: Geometry, *, pipeline: int) -> Memory:
    """Return the memory of each GPU as a plan says it."""
    used, rest = found.weights_gib + found.other_gib, max(found.kv_gib, 0)
    shares = (
        Share(what="weights", low_gib=found.weights_gib, high_gib=found.weights_gib),
        Share(what="engine", low_gib=found.other_gib, high_gib=found.other_gib),
        Share(what="KV cache", low_gib=rest, high_gib=rest),
    )
    layers = max(stages.sizes(geometry.layers, pipeline))
    return Memory(
        where=EACH_GPU,
        limit_gib=found.requested_gib,
        node_gib=None,
        stages=(StageMemory(stage=0, layers=layers, shares=shares, low_gib=used + rest, high_gib=used + rest),),
        guard=None,
        fit="fits" if found.kv_gib > 0 else "refused",
        short=() if found.kv_gib > 0 else (found.sentence(),),
        basis=tuple(_said(found)),
    )
