"""What the command line and the environment make of a server: the facts the rest of the stand-in works with."""

import argparse
import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from rehearsal.engine import VLLM_VERSION
from rehearsal.engine.profile import SEED_VARIABLE, Profile, from_environment
from rehearsal.engine.scheduler import Limits
from rehearsal.engine.stamps import STAMPS_VARIABLE

GIB = 1024**3
DEFAULT_CACHE_GIB = 4


class SettingsError(ValueError):
    """Arguments that parse but do not go together."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """One server's settings; sizes in tokens or bytes as named."""

    model: str
    names: tuple[str, ...]
    host: str
    port: int
    headless: bool
    stages: int
    tensor: int
    nnodes: int
    node_rank: int
    master_addr: str
    master_port: int
    shutdown_timeout_s: int
    limits: Limits
    cache_bytes: int
    block_size: int
    prefix_caching: bool
    async_scheduling: bool
    show_cached: bool
    force_usage: bool
    stream_interval: int
    response_role: str
    api_keys: tuple[str, ...]
    fingerprint: str | None
    step_timeout_s: float
    profile: Profile
    seed: int
    stamps: Path | None


def _check_ranks(stages: int, tensor: int, nnodes: int, node_rank: int, *, headless: bool) -> None:
    world = stages * tensor
    if world % nnodes:
        raise SettingsError(f"global world_size ({world}) must be divisible by nnodes_within_dp ({nnodes}). ")
    if not 0 <= node_rank < nnodes:
        raise SettingsError(f"node_rank ({node_rank}) must be less than nnodes ({nnodes}).")
    if headless and node_rank == 0:
        raise SettingsError("--headless is for the ranks after the first; this one has --node-rank=0.")
    if node_rank and not headless:
        raise SettingsError(f"rank {node_rank} has no API server; it needs --headless.")


def _cache_bytes(args: argparse.Namespace, environ: Mapping[str, str]) -> int:
    if args.kv_cache_memory_bytes is not None:
        return int(args.kv_cache_memory_bytes)
    space = environ.get("VLLM_CPU_KVCACHE_SPACE")
    try:
        return int(space) * GIB if space else DEFAULT_CACHE_GIB * GIB
    except ValueError:
        message = f"invalid literal for int() with base 10: {space!r} (VLLM_CPU_KVCACHE_SPACE is whole GiB)"
        raise SettingsError(message) from None


def _whole(environ: Mapping[str, str], name: str, default: int) -> int:
    text = environ.get(name, str(default))
    try:
        return int(text)
    except ValueError:
        raise SettingsError(f"invalid literal for int() with base 10: {text!r} ({name} is a whole number)") from None


def _fingerprint(args: argparse.Namespace, stages: int, tensor: int) -> str | None:
    if args.fingerprint_mode == "none":
        return None
    if args.fingerprint_mode == "custom":
        return str(args.fingerprint_value)
    facts = repr(sorted((key, repr(value)) for key, value in vars(args).items()))
    parts = [f"vllm-{VLLM_VERSION}"]
    if args.fingerprint_mode == "full":
        parts += [f"tp{tensor}"] if tensor > 1 else []
        parts += [f"pp{stages}"] if stages > 1 else []
    return "-".join([*parts, hashlib.sha256(facts.encode()).hexdigest()[:8]])


def _limits(args: argparse.Namespace, world: int) -> Limits:
    length = args.max_model_len
    max_model_len = 4096 if length in (None, -1) else int(length)
    sequences = args.max_num_seqs or 128 * world
    chunked = args.enable_chunked_prefill is not False
    batched = args.max_num_batched_tokens
    if batched is None:
        batched = 2048 * world
        if not chunked:
            batched = max(max_model_len, batched)
        batched = min(sequences * max_model_len, batched)
    elif batched < sequences and args.max_num_seqs is not None:
        raise SettingsError(
            f"max_num_batched_tokens ({batched}) must be greater than or equal to max_num_seqs ({sequences})."
        )
    return Limits(
        max_num_batched_tokens=batched,
        max_num_seqs=min(sequences, batched),
        max_model_len=max_model_len,
        long_prefill_token_threshold=args.long_prefill_token_threshold,
        chunked_prefill=chunked,
    )


def settings(args: argparse.Namespace, environ: Mapping[str, str] = os.environ) -> Settings:
    """Derive the settings.

    Raises:
        SettingsError: Arguments contradict each other, or the environment holds what vLLM refuses.
        ProfileError: The environment names an unknown profile or parameter.
    """
    port = environ.get("VLLM_PORT", "0")
    if "://" in port:
        raise SettingsError(
            f"VLLM_PORT '{port}' appears to be a URI. This may be caused by a Kubernetes service discovery issue,"
            "check the warning in: https://docs.vllm.ai/en/latest/configuration/env_vars.html"
        )
    stages, tensor = args.pipeline_parallel_size, args.tensor_parallel_size
    headless = bool(args.headless)
    _check_ranks(stages, tensor, args.nnodes, args.node_rank, headless=headless)
    model = args.model or "Qwen/Qwen3-0.6B"
    keys = args.api_key or ([environ["VLLM_API_KEY"]] if environ.get("VLLM_API_KEY") else [])
    stamps = environ.get(STAMPS_VARIABLE)
    return Settings(
        model=model,
        names=tuple(args.served_model_name or [model]),
        host=args.host or "0.0.0.0",
        port=args.port,
        headless=headless,
        stages=stages,
        tensor=tensor,
        nnodes=args.nnodes,
        node_rank=args.node_rank,
        master_addr=args.master_addr,
        master_port=args.master_port,
        shutdown_timeout_s=args.shutdown_timeout,
        limits=_limits(args, stages * tensor),
        cache_bytes=_cache_bytes(args, environ),
        block_size=args.block_size or 128,
        async_scheduling=args.async_scheduling is not False,
        prefix_caching=args.enable_prefix_caching is not False,
        show_cached=bool(args.enable_prompt_tokens_details),
        force_usage=bool(args.enable_force_include_usage),
        stream_interval=max(1, args.stream_interval),
        response_role=args.response_role,
        api_keys=tuple(keys),
        fingerprint=_fingerprint(args, stages, tensor),
        step_timeout_s=float(_whole(environ, "VLLM_EXECUTE_MODEL_TIMEOUT_SECONDS", 300)),
        profile=from_environment(environ),
        seed=_whole(environ, SEED_VARIABLE, 0),
        stamps=Path(stamps) if stamps else None,
    )
