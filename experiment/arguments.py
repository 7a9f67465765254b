"""The engine's command line, for every pod of every topology."""

from experiment import fetching, flags
from experiment.asked import LEADER_ADDRESS, WORKER_INDEX, Role
from experiment.engine import Engine, KvCacheBytes, KvCacheUtilization, Model
from experiment.topology import Topology

HTTP_PORT = 8000
MASTER_PORT = 29501
AGENT_PORT = 8001
"""Where each pod's counters are told, beside its engine."""


def serve(role: Role, model: Model, engine: Engine, topology: Topology) -> tuple[str, ...]:
    """Return the argv of `vllm serve`; leader and worker of a group differ in their rank and in `--headless` alone.

    Args:
        role: the leader serves HTTP; a worker exists only in groups of two pods and more.
        model: what is served.
        engine: flags, all of them checked against the pinned version's.
        topology: decides the stages.

    Raises:
        ValueError: a worker in a topology whose groups are single pods.
    """
    return (
        "vllm",
        "serve",
        *fetching.serve(model),
        f"--served-model-name={model.served_name}",
        *_address(role),
        *_ranks(role, topology),
        *_own(engine),
        *(argument for name in sorted(engine.flags) for argument in flags.spell(name, engine.flags[name])),
    )


def _address(role: Role) -> tuple[str, ...]:
    return ("--host=0.0.0.0", f"--port={HTTP_PORT}") if role == "leader" else ()


def _ranks(role: Role, topology: Topology) -> tuple[str, ...]:
    """Pods are the stages of a pipeline; within each, every layer may be divided over so many ranks."""
    size, tensor = topology.size, topology.tensor
    if size == 1:
        if role == "worker":
            raise ValueError("a group of one pod has no worker")
        return (f"--tensor-parallel-size={tensor}",) if tensor > 1 else ()
    return (
        f"--pipeline-parallel-size={size}",
        f"--tensor-parallel-size={tensor}",
        f"--nnodes={size}",
        f"--node-rank={'0' if role == 'leader' else WORKER_INDEX}",
        f"--master-addr={LEADER_ADDRESS}",
        f"--master-port={MASTER_PORT}",
        *(("--headless",) if role == "worker" else ()),
    )


def _own(engine: Engine) -> tuple[str, ...]:
    compilation = engine.compilation
    return (
        f"--dtype={engine.dtype}",
        f"--max-model-len={engine.max_model_len}",
        *_kv_cache(engine),
        *((f"-cc.mode={compilation.mode}", f"-cc.backend={compilation.backend}") if compilation else ()),
        "--async-scheduling" if engine.async_scheduling else "--no-async-scheduling",
        f"--shutdown-timeout={engine.shutdown_timeout_s}",
    )


def _kv_cache(engine: Engine) -> tuple[str, ...]:
    match engine.kv_cache:
        case KvCacheBytes(bytes=size):
            return (f"--kv-cache-memory-bytes={size}",)
        case KvCacheUtilization(fraction=fraction):
            return (f"--gpu-memory-utilization={fraction:g}",)
        case _:
            return ()  # by a variable, which the CPU backend reads
