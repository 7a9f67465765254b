"""Advice on what is paid for and not used, and on what makes a measurement worth less."""

from collections.abc import Iterator

from experiment import fetching
from experiment.catalogue.instances import InstanceType, instance_types
from experiment.nodes import InstanceGroup, NodeGroup
from experiment.plan.facts import Facts
from experiment.plan.flags import inputs_off
from experiment.plan.memory import sure
from experiment.warning import Warning as Warned
from experiment.workload import Cell

_LITTLE_USED = 0.05
_SPARE_GIB = 4.0
_SPARE_SHARE = 0.25
_LARGE_GIB = 5.0


def warnings(facts: Facts) -> Iterator[Warned]:
    """Return what wastes memory, money or the worth of a result."""
    yield from _tight_memory(facts)
    yield from _inputs(facts)
    yield from _spare_memory(facts)
    yield from _spare_cache(facts)
    yield from _slow_start(facts)
    yield from _fetched_again(facts)
    yield from _order(facts)


def _tight_memory(facts: Facts) -> Iterator[Warned]:
    memory = facts.memory
    if memory is None or memory.fit != "perhaps":
        return
    said, advice = "; ".join(memory.short), sure(memory, facts.settings)
    yield Warned(
        "memory-may-not-fit",
        f"{said[:1].upper()}{said[1:]}. {advice or 'Take larger nodes and ask for more.'}",
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
    spare = memory.spare_gib
    if spare < max(_SPARE_GIB, _SPARE_SHARE * memory.limit_gib):
        return
    yield Warned(
        "memory-asked-and-unused",
        f"Each pod asks for {memory.limit_gib:g} GiB and would do with {memory.limit_gib - spare:.1f}, the page cache "
        f"that the engine's guard counts included. Ask for {spare:.1f} less, or give them to the KV cache.",
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
    start, model = facts.duration.restart_s, facts.settings.model
    if start is not None and model.weights.cache == "none" and not fetching.by_engine(model):
        start -= facts.duration.fetching_s  # before the container that the probe looks at
    if start is None or start <= allowed:
        return
    yield Warned(
        "startup-probe-too-short",
        f"A pod is expected to take {start:.0f} s to its first answer, and engine.probes.startup_s allows {allowed:g}: "
        "Kubernetes would kill it while it loads, again and again.",
        {"expected_s": round(start), "allowed_s": allowed},
        mistake=True,
    )


def _fetched_again(facts: Facts) -> Iterator[Warned]:
    weights, size = facts.settings.model.weights, facts.checkpoint_gib
    if weights.source == "directory" or weights.cache == "node" or size is None or size < _LARGE_GIB:
        return
    if not facts.settings.topology.groups or facts.duration.restart_s is None:
        return
    yield Warned(
        "weights-fetched-at-every-start",
        f"Every pod fetches {size:.1f} GiB at every start, so that each restart costs {facts.duration.restart_s:.0f} s "
        "without an answer, and the pages of what it wrote are charged to it. model.weights.cache: node keeps them.",
        {"checkpoint_gib": round(size, 2), "restart_s": round(facts.duration.restart_s)},
    )


def _order(facts: Facts) -> Iterator[Warned]:
    for one in facts.placement.sometimes:
        yield Warned(
            "order-may-leave-pending",
            f"{one}. The scheduler takes pods as they come and breaks ties at random.",
            {"most": one.most, "of": one.of},
            mistake=True,
        )


def instance_of(group: NodeGroup | InstanceGroup) -> InstanceType | None:
    """Return the instance type of a group; None where nodes were declared or nothing is known of it."""
    return instance_types().get(group.instance) if isinstance(group, InstanceGroup) else None
