"""Sizes that do not fit into one another: heads and ranks, layers and stages, KV cache and pod, context and model."""

from experiment.benchmark import Benchmark
from experiment.catalogue.allocatable import allocatable
from experiment.catalogue.instances import instance_types
from experiment.engine import Engine, KvCacheBytes, KvCacheSpace, KvCacheUtilization, Model
from experiment.nodes import InstanceGroup, Nodes, gpus
from experiment.problem import Problem
from experiment.topology import Topology

_GIB = 2**30


def heads_are_divided_evenly(model: Model, topology: Topology) -> list[Problem]:
    """Tensor parallelism gives each rank whole heads, and each stage of a pipeline holds a layer or more."""
    geometry = model.known_geometry
    if geometry is None or topology.groups == 0:
        return []
    found = []
    kv_heads = {geometry.kv_heads, geometry.full_kv_heads or geometry.kv_heads}
    tensor = topology.tensor
    # Fewer KV heads than ranks are copied, each to as many ranks; else each rank gets as many.
    if geometry.heads % tensor or any(max(heads, tensor) % min(heads, tensor) for heads in kv_heads):
        spelt = " and ".join(map(str, sorted(kv_heads)))
        heads_named = "head" if kv_heads == {1} else "heads"
        why = f"its {geometry.heads} heads and {spelt} KV {heads_named} cannot be divided evenly over so many ranks"
        fitting = [
            f"{size}"
            for size in range(1, 17)
            if geometry.heads % size == 0 and not any(max(heads, size) % min(heads, size) for heads in kv_heads)
        ]
        found.append(
            Problem("topology.tensor", f"{tensor} with {model.name}", why, f"Take one of {', '.join(fitting)}.")
        )
    if topology.size > geometry.layers:
        why = f"it has {geometry.layers} layers, and a stage holds one or more"
        remedy = f"Take {geometry.layers} stages at most."
        found.append(Problem("topology.pipeline", f"{topology.size} with {model.name}", why, remedy))
    return found


def stages_are_on_nodes_of_their_own(nodes: Nodes, topology: Topology) -> list[Problem]:
    """A split over one node is none; declared nodes are checked for this and more where pods are placed."""
    if not isinstance(nodes.engine, InstanceGroup) or topology.size <= nodes.engine.count:
        return []
    why = f"its {topology.size} pods must be on {topology.size} different nodes"
    remedy = f"Take nodes.engine.count: {topology.size}, or fewer stages; on one node take topology.kind: single."
    found = f"{topology.size} with nodes.engine.count {nodes.engine.count}"
    return [Problem("topology.pipeline", found, why, remedy)]


def pods_fit_their_instances(nodes: Nodes, engine: Engine) -> list[Problem]:
    """Even where nothing else runs, a node gives no more than this; what else runs there, the plan counts."""
    if not isinstance(nodes.engine, InstanceGroup) or nodes.engine.instance not in instance_types():
        return []
    room = allocatable(instance_types()[nodes.engine.instance])
    about = "about " if room.estimated else ""
    return [
        Problem(
            f"engine.resources.{key}",
            f"{asked:g} with {nodes.engine.instance}",
            f"such a node leaves {about}{there:g} {unit} to pods",
            "Ask for less, or take bigger instances.",
        )
        for key, asked, there, unit in (
            ("cpu", engine.resources.cpu, round(room.cpu_millicores / 1000, 2), "CPU cores"),
            ("memory_gib", engine.resources.memory_gib, round(room.memory_mib / 1024, 1), "GiB"),
        )
        if asked > there
    ]


def the_kv_cache_fits_its_device(nodes: Nodes, engine: Engine) -> list[Problem]:
    """On CPUs it is in the pod's memory, on GPUs in theirs; each has its own way of saying how large it is."""
    cache = engine.kv_cache
    if gpus(nodes.engine):
        return _on_gpus(nodes, cache)
    if isinstance(cache, KvCacheUtilization):
        why = "a share of a GPU's memory is asked for, and these nodes have no GPU"
        return [
            Problem(
                "engine.kv_cache.kind",
                "utilization with CPU nodes",
                why,
                "Take {kind: space, gib: 4} or {kind: bytes, bytes: ...}.",
            )
        ]
    path, gib = ("gib", cache.gib) if isinstance(cache, KvCacheSpace) else ("bytes", cache.bytes / _GIB)
    left = engine.resources.memory_gib - engine.resources.shared_memory_gib
    if gib < left:
        return []
    why = (
        f"the cache takes {gib:.3g} GiB, and the pod has {left:g} GiB for it, the weights and the engine itself "
        f"({engine.resources.memory_gib:g} less {engine.resources.shared_memory_gib:g} of shared memory)"
    )
    found = f"{gib:.3g} GiB with engine.resources.memory_gib {engine.resources.memory_gib:g}"
    return [Problem(f"engine.kv_cache.{path}", found, why, "Take a smaller cache or a larger pod.")]


def _on_gpus(nodes: Nodes, cache: KvCacheSpace | KvCacheBytes | KvCacheUtilization) -> list[Problem]:
    if isinstance(cache, KvCacheSpace):
        why = "VLLM_CPU_KVCACHE_SPACE is read by the CPU backend only"
        remedy = "Take {kind: utilization, fraction: 0.92} or {kind: bytes, bytes: ...}."
        return [Problem("engine.kv_cache.kind", "space with GPU nodes", why, remedy)]
    known = instance_types().get(nodes.engine.instance) if isinstance(nodes.engine, InstanceGroup) else None
    if isinstance(cache, KvCacheBytes) and known is not None and cache.bytes >= known.gpu_memory_mib * 2**20:
        why = f"each GPU has {known.gpu_memory_mib / 1024:g} GiB, for this, the weights and the activations"
        found = f"{cache.bytes / _GIB:.3g} GiB with {known.name}"
        return [Problem("engine.kv_cache.bytes", found, why, "Take a smaller cache.")]
    return []


def the_context_is_one_the_model_knows(model: Model, engine: Engine) -> list[Problem]:
    """A longer one than the model was made for is refused by vLLM, unless it is told not to."""
    geometry = model.known_geometry
    longest = geometry.max_position if geometry else None
    if longest is None or engine.max_model_len <= longest or "VLLM_ALLOW_LONG_MAX_MODEL_LEN" in engine.env:
        return []
    why = f"the model was made for {longest} tokens, and vLLM refuses more"
    found = f"{engine.max_model_len} with {model.name}"
    return [Problem("engine.max_model_len", found, why, f"Take {longest} or less.")]


def requests_fit_the_context(engine: Engine, benchmark: Benchmark | None) -> list[Problem]:
    """The engine refuses a prompt that leaves no room for its reply, so the test would measure refusals."""
    found = []
    for number, test in enumerate(benchmark.tests if benchmark else ()):
        longest = max((work.prompt_tokens + work.output_tokens for work in test.work), default=0)
        if longest > engine.max_model_len:
            why = f"its longest request has {longest} tokens with its reply, and the engine refuses it"
            found.append(
                Problem(
                    f"benchmark.tests.{number}",
                    f"{test.kind} with engine.max_model_len {engine.max_model_len}",
                    why,
                    "Take shorter prompts or replies, or a longer context.",
                )
            )
    return found


RULES = (
    heads_are_divided_evenly,
    stages_are_on_nodes_of_their_own,
    pods_fit_their_instances,
    the_kv_cache_fits_its_device,
    the_context_is_one_the_model_knows,
    requests_fit_the_context,
)
