"""The KV cache of the stack's engine pods, as the engine will compute it."""

import math

from experiment.catalogue.models import Geometry
from experiment.engine import Engine, KvCacheBytes, KvCacheSpace
from experiment.engine import KvCache as KvCacheSetting
from experiment.kv import cpu, layers
from experiment.kv.cache import GIB, KvCache
from experiment.kv.pool import Pool
from experiment.plan import flags
from experiment.plan.part import Part
from experiment.rounding import at_least
from experiment.settings import Settings

GEMMA4_VIDEO_TOKENS = 32 * (70 + 8)
"""The largest single input of Gemma 4, which must fit one batch (`experiment.kv.scheduling.cpu`)."""


class Cache(Part):
    """What the engine will say of its KV cache, GiB with two decimals as it prints them.

    Attributes:
        given_gib: what each rank is given.
        fits: whether the engine starts: one request of `max_model_len` finds room.
        max_model_len: longest request in tokens.
        needed_gib: what it takes, on the stage that decides.
        available_gib: what that stage has for it.
        proposed_len: the length that the engine proposes when it refuses; None if it does not, 0 if none would do.
        tokens: the cache's size in tokens; None if it is refused.
        concurrency: how many longest requests it holds at once; None likewise.
        enough_gib: the least that would do for `max_model_len`, rounded up.
        exact: whether this is the engine's own arithmetic; if not, `assumptions` say what it rests on.
        assumptions: in words.
    """

    given_gib: float
    fits: bool
    max_model_len: int
    needed_gib: float
    available_gib: float
    proposed_len: int | None
    tokens: int | None
    concurrency: float | None
    enough_gib: float
    exact: bool
    assumptions: tuple[str, ...] = ()

    @classmethod
    def of(cls, cache: KvCache, *, exact: bool, assumptions: tuple[str, ...] = ()) -> "Cache":
        """Return what a plan says of a cache."""
        return cls(
            given_gib=round(cache.kv_bytes / GIB, 2),
            fits=cache.fits,
            max_model_len=cache.max_model_len,
            needed_gib=cache.needed_gib,
            available_gib=max(0.0, cache.available_gib),
            proposed_len=cache.estimated_max_len,
            tokens=cache.tokens,
            concurrency=None if cache.concurrency is None else round(cache.concurrency, 2),
            enough_gib=at_least(cache.smallest_kv_bytes / GIB, 2),
            exact=exact,
            assumptions=assumptions,
        )


def given_bytes(engine: Engine) -> int | None:
    """Return the bytes of KV cache that each rank is told to take; None where it works them out by itself."""
    kv_cache = engine.kv_cache
    if isinstance(kv_cache, KvCacheSpace):
        return kv_cache.gib * GIB
    return kv_cache.bytes if isinstance(kv_cache, KvCacheBytes) else None


def raised(kv_cache: KvCacheSetting, gib: float) -> str:
    """Return the setting that gives each rank so many GiB or more, as a stack file writes it."""
    if isinstance(kv_cache, KvCacheSpace):
        return f"engine.kv_cache.gib: {math.ceil(gib)}"
    if isinstance(kv_cache, KvCacheBytes):
        return f"engine.kv_cache.bytes: {math.ceil(gib * GIB)}"
    return f"a KV cache of {gib:.2f} GiB"


def cpu_pool(settings: Settings, geometry: Geometry, *, pipeline: int) -> Pool:
    """Return the blocks of a CPU server of so many stages, with the stack's own flags.

    Raises:
        SplitbedError: the engine cannot lay the model out like this.
    """
    engine = settings.engine
    dtype = flags.text(engine, "kv-cache-dtype", "auto")
    return cpu.pool(
        layers.of(geometry),
        max_model_len=engine.max_model_len,
        pipeline=pipeline,
        tensor=settings.topology.tensor,
        dtype=flags.model_dtype(engine) if dtype == "auto" else dtype,
        max_num_batched_tokens=flags.whole(engine, "max-num-batched-tokens"),
        max_num_seqs=flags.whole(engine, "max-num-seqs"),
        multimodal_tokens=GEMMA4_VIDEO_TOKENS if _looks_both_ways(settings, geometry) else 0,
        chunked_prefill=not flags.is_set(engine, "enable-chunked-prefill", False),
        block_tokens=flags.whole(engine, "block-size") or cpu.BLOCK_TOKENS,
        hybrid=not flags.is_set(engine, "disable-hybrid-kv-cache-manager", True),
        partition=flags.partition(engine) if pipeline == settings.topology.size else None,
    )


def _looks_both_ways(settings: Settings, geometry: Geometry) -> bool:
    return geometry.multimodal and "gemma-4" in settings.model.name.lower() and not flags.inputs_off(settings.engine)
