"""Advice on what is paid for and not used, and on what makes a measurement worth less."""

from collections.abc import Iterator

from experiment.catalogue.instances import InstanceType, instance_types
from experiment.nodes import InstanceGroup, NodeGroup
from experiment.plan.facts import Facts
from experiment.plan.flags import inputs_off
from experiment.warning import Warning as Warned
from experiment.workload import Cell

_LITTLE_USED = 0.05
_SPARE_GIB = 4.0
_SPARE_SHARE = 0.25


def warnings(facts: Facts) -> Iterator[Warned]:
    """Return what wastes memory, money or the worth of a result."""
    yield from _tight_memory(facts)
    yield from _inputs(facts)
    yield from _spare_memory(facts)
    yield from _spare_cache(facts)
    yield from _slow_start(facts)
    yield from _bus(facts)


def _tight_memory(facts: Facts) -> Iterator[Warned]:
    memory = facts.memory
    if memory is None or memory.fit != "perhaps":
        return
    least = f" A KV cache of {memory.guard.sure_gib:.2f} GiB surely passes." if memory.guard else ""
    said = "; ".join(memory.short)
    yield Warned(
        "memory-may-not-fit",
        f"{said[:1].upper()}{said[1:]}.{least}",
        {"sure_gib": round(memory.guard.sure_gib, 2)} if memory.guard else {},
    )


def _inputs(facts: Facts) -> Iterator[Warned]:
    geometry = facts.geometry
    if geometry is None or not geometry.multimodal or inputs_off(facts.settings.engine):
        return
    gib = geometry.encoder_parameters * 2 / 2**30
    size = f"its encoders' {gib:.2f} GiB in each pod, and " if gib >= 0.01 else ""
    yield Warned(
        "multimodal-inputs-on",
        f"{facts.settings.model.name} takes images, sound or video, and a test of text needs none: {size}what the "
        "engine sets aside to read them would be saved by flags: {limit-mm-per-prompt: {image: 0, audio: 0, video: 0}} "
        "(how much, the 12B post did not measure).",
        {"encoder_gib": round(gib, 3)},
    )


def _spare_memory(facts: Facts) -> Iterator[Warned]:
    memory, settings = facts.memory, facts.settings
    if memory is None or settings.device != "cpu":
        return
    spare = memory.limit_gib - memory.largest.high_gib
    if spare < max(_SPARE_GIB, _SPARE_SHARE * memory.limit_gib):
        return
    yield Warned(
        "memory-asked-and-unused",
        f"Each pod asks for {memory.limit_gib:g} GiB and needs at most {memory.largest.high_gib:.1f}: "
        f"{spare:.1f} GiB are reserved for nothing but the page cache. Ask for less, or give it to the KV cache.",
        {"spare_gib": round(spare, 2)},
    )


def _spare_cache(facts: Facts) -> Iterator[Warned]:
    cache, benchmark = facts.cache, facts.settings.benchmark
    if cache is None or cache.tokens is None or benchmark is None or not facts.settings.topology.groups:
        return
    most = max(
        (_tokens_at_once(cell) for test in benchmark.tests for cell in test.cells),
        default=0,
    )
    share = most / cache.tokens
    if share >= _LITTLE_USED:
        return
    yield Warned(
        "kv-cache-mostly-unused",
        f"The KV cache holds {cache.tokens:,} tokens ({cache.concurrency:g} requests of {cache.max_model_len:,}), and "
        f"the benchmark has at most {most:,} tokens in it at once, {share:.1%} of it.",
        {"tokens": cache.tokens, "at_once": most},
    )


def _tokens_at_once(cell: Cell) -> int:
    """Return the most tokens of a test that are in the cache at once, the prefix cache not counted."""
    longest = max((work.prompt_tokens + work.output_tokens for work in cell.work), default=0)
    return max(cell.streams, 1) * longest


def _slow_start(facts: Facts) -> Iterator[Warned]:
    allowed = facts.settings.engine.probes.startup_s
    start = facts.duration.restart_s
    if start is None or start <= allowed:
        return
    yield Warned(
        "startup-probe-too-short",
        f"A pod is expected to take {start:.0f} s to its first answer, and engine.probes.startup_s allows {allowed:g}: "
        "Kubernetes would kill it while it loads, again and again.",
        {"expected_s": round(start), "allowed_s": allowed},
        mistake=True,
    )


def _bus(facts: Facts) -> Iterator[Warned]:
    """The GPU post's arithmetic: layers x 2 x the latency of one all-reduce, at every token."""
    instance, geometry = _instance(facts.settings.nodes.engine), facts.geometry
    tensor = facts.settings.topology.tensor
    if instance is None or geometry is None or tensor == 1 or instance.interconnect != "pcie":
        return
    each = 2 * geometry.layers
    yield Warned(
        "tensor-parallel-over-pcie",
        f"{tensor} GPUs of {instance.name} reduce over PCIe {each} times a token; at the GPU post's 2 to 8 ms each "
        f"that is {each * 2 / 1000:.2f} to {each * 8 / 1000:.2f} s a token, where NVLink would take "
        f"{each * 0.05:.0f} to {each * 0.2:.0f} ms.",
        {"all_reduces_per_token": each},
    )


def _instance(group: NodeGroup | InstanceGroup) -> InstanceType | None:
    return instance_types().get(group.instance) if isinstance(group, InstanceGroup) else None
