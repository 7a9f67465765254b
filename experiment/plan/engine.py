"""Memory and KV cache of the stack's engine, on whatever it computes."""

from dataclasses import dataclass

from experiment.catalogue.models import Geometry
from experiment.errors import SplitbedError
from experiment.images import REHEARSED
from experiment.plan import gpus, memory
from experiment.plan.cache import Cache, cpu_pool, given_bytes
from experiment.plan.memory import Memory
from experiment.settings import Settings


@dataclass(frozen=True, kw_only=True)
class Engine:
    """What is known of the engine's memory.

    Attributes:
        cache: the KV cache; None if it cannot be told.
        memory: of each pod or GPU; None likewise.
        whole: memory of one pod with the whole model and the KV cache that it then needs; None likewise, and where
            the GPUs of one pod have no room for that cache.
        half: memory of each GPU if half as many held each copy; None where that is not possible.
        error: why the engine would not even begin.
        unknown: what cannot be told, in words.
    """

    cache: Cache | None = None
    memory: Memory | None = None
    whole: Memory | None = None
    half: Memory | None = None
    error: SplitbedError | None = None
    unknown: tuple[str, ...] = ()


def engine(settings: Settings, geometry: Geometry | None, *, node_gib: float | None) -> Engine:
    """Return what is known of the engine's memory.

    Args:
        settings: of the stack.
        geometry: of the model; None if nothing is known of it.
        node_gib: what an engine node has for one pod.
    """
    if settings.topology.groups == 0:
        return Engine()
    if geometry is None:
        return Engine(unknown=(f"memory and KV cache: nothing is known of {settings.model.name}; give model.geometry",))
    try:
        return (_on_gpus if settings.device == "gpu" else _on_cpus)(settings, geometry, node_gib)
    except SplitbedError as error:
        return Engine(error=error)


def rehearsed(settings: Settings) -> bool:
    """Tell whether the image is one of the rehearsal's, whose stand-in keeps no weights and whose models are small."""
    return settings.engine_image.startswith(f"{REHEARSED}/")


def _on_cpus(settings: Settings, geometry: Geometry, node_gib: float | None) -> Engine:
    given, size = given_bytes(settings.engine), settings.topology.size
    if given is None:
        return Engine(unknown=("memory and KV cache: on a CPU the cache needs a size",))
    blocks = cpu_pool(settings, geometry, pipeline=size)
    cache = Cache.of(blocks.cache(given, settings.engine.max_model_len), exact=True)
    if rehearsed(settings):
        why = "memory: the engine is a rehearsal's, which does not keep the model's weights"
        return Engine(cache=cache, unknown=(why,))
    alone = cpu_pool(settings, geometry, pipeline=1)
    enough = max(given, alone.bytes_for(settings.engine.max_model_len))
    limit = settings.engine.resources.memory_gib
    return Engine(
        cache=cache,
        memory=memory.on_cpus(
            settings, geometry, blocks, pipeline=size, kv_bytes=given, limit_gib=limit, node_gib=node_gib
        ),
        whole=memory.on_cpus(
            settings, geometry, alone, pipeline=1, kv_bytes=enough, limit_gib=node_gib or limit, node_gib=node_gib
        ),
    )


def _on_gpus(settings: Settings, geometry: Geometry, _: float | None) -> Engine:
    size, tensor = settings.topology.size, settings.topology.tensor
    found = gpus.left(settings, geometry, pipeline=size, tensor=tensor)
    if found is None:
        return Engine(unknown=("memory and KV cache: the memory of the GPUs of declared nodes is not known",))
    whole = gpus.left(settings, geometry, pipeline=1, tensor=tensor)
    half = gpus.left(settings, geometry, pipeline=size, tensor=tensor // 2) if tensor % 2 == 0 else None
    return Engine(
        half=None if half is None or not half.fits else gpus.memory_of(half, geometry, pipeline=size),
        cache=gpus.cache_of(found),
        memory=gpus.memory_of(found, geometry, pipeline=size),
        whole=None if whole is None or not whole.fits else gpus.memory_of(whole, geometry, pipeline=1),
    )
