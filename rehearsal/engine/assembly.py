"""Puts the parts of a serving leader together."""

import time
from pathlib import Path

from rehearsal.engine.core import Core
from rehearsal.engine.driver import Engine
from rehearsal.engine.frontend import FrontEnd
from rehearsal.engine.generation import Server
from rehearsal.engine.kvcache import BlockPool
from rehearsal.engine.memory import Cache
from rehearsal.engine.metrics import Registry, labels
from rehearsal.engine.observations import Observations
from rehearsal.engine.pipeline import Pipeline
from rehearsal.engine.ranks import Leader
from rehearsal.engine.request import Writer
from rehearsal.engine.scheduler import Chunk, Scheduler
from rehearsal.engine.settings import Settings
from rehearsal.engine.tokenizer import Tokenizer

CPU = Path("/proc/cpuinfo")


def recurrent_state_type() -> str:
    """Return what vLLM stores the state of recurrent layers as: float32 where the CPU has AVX512-BF16."""
    return "float32" if "avx512_bf16" in CPU.read_text().split() else "auto"


def _cache_info(settings: Settings, cache: Cache, registry: Registry) -> None:
    """Replace what this server knows in the recorded labels of its cache's description."""
    info = registry.families["vllm:cache_config_info"]
    (recorded,) = (dict(key) for key in info.series)
    recorded.pop("model_name")
    info.series.clear()
    known = {
        "block_size": str(settings.block_size),
        "effective_attention_block_size": str(settings.block_size),
        "enable_prefix_caching": str(settings.prefix_caching),
        "kv_cache_max_concurrency": str(cache.concurrency),
        "kv_cache_memory_bytes": str(settings.cache_bytes),
        "kv_cache_size_tokens": str(cache.tokens),
        "mamba_ssm_cache_dtype": recurrent_state_type(),
        "num_gpu_blocks": str(cache.blocks),
    }
    info.at(labels(recorded | known)).value = 1


def assemble(settings: Settings, cache: Cache, leader: Leader) -> tuple[Server, Observations]:
    """Return what answers requests, and what counts them. `leader` is asked for the other ranks' part of each step."""
    profile = settings.profile
    # The pool counts whole-model blocks of `block_size` tokens; its size is the cache's stated one.
    pool = BlockPool(max(1, cache.tokens // settings.block_size), settings.block_size, settings.prefix_caching)
    tokenizer = Tokenizer()
    scheduler = Scheduler(settings.limits, pool, Writer(tokenizer))
    pipeline = Pipeline(profile, settings.stages, settings.tensor, settings.seed)

    def send(number: int, chunks: list[Chunk]) -> None:
        size = sum(
            chunk.tokens * profile.prompt_token_bytes if chunk.is_prefill else profile.generated_token_bytes
            for chunk in chunks
        )
        leader.send(number, size)

    core = Core(scheduler, pipeline, on_send=send, confirmed={} if settings.nnodes > 1 else None)
    registry = Registry(settings.names[0], settings.limits.max_model_len)
    _cache_info(settings, cache, registry)
    observations = Observations(registry, core)
    engine = Engine(
        core,
        FrontEnd(profile, settings.seed),
        time.monotonic,
        on_step=observations.step,
        step_timeout_s=settings.step_timeout_s,
    )
    leader.on_answer = engine.confirm
    return Server(settings, tokenizer, engine), observations
