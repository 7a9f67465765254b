"""Advice on whether to split at all, and into what instead."""

from collections.abc import Iterator

from experiment.cluster import EksCluster
from experiment.nodes import InstanceGroup
from experiment.plan.alternatives import alternatives, cost_usd
from experiment.plan.facts import Facts
from experiment.rounding import at_least
from experiment.topology import Single, Split
from experiment.warning import Warning as Warned

SPLIT_FITS = "split-fits-one-pod"


def warnings(facts: Facts) -> Iterator[Warned]:
    """Return what speaks against the topology."""
    yield from _split_fits(facts)
    yield from _bigger_machine(facts)
    yield from _idle_nodes(facts)


def fits_one_pod(facts: Facts) -> bool:
    """Tell whether a pod as large as a node allows surely holds the whole model and its KV cache."""
    return facts.whole is not None and facts.whole.fit == "fits"


def _split_fits(facts: Facts) -> Iterator[Warned]:
    topology, whole = facts.settings.topology, facts.whole
    if not isinstance(topology, Split) or whole is None or not fits_one_pod(facts):
        return
    need, pods = whole.largest.high_gib, topology.pipeline
    room = whole.node_gib or whole.limit_gib
    ask = at_least(whole.limit_gib - whole.spare_gib, 1)
    more = facts.settings.device == "cpu" and ask > facts.settings.engine.resources.memory_gib
    asking = f" Either needs engine.resources.memory_gib: {ask:g}." if more else ""
    tensor = f", tensor: {topology.tensor}" if topology.tensor > 1 else ""
    if facts.settings.device == "cpu":
        room_said = f"at most {need:.1f} of {room:.1f} GiB"
        seen = (
            "In the 1B post one pod answered one user 21 % faster than two, and the two burnt 37 % more CPU for every "
            "token. "
        )
    else:
        room_said, seen = f"{room:.1f} GiB on each of its GPUs", ""
    yield Warned(
        SPLIT_FITS,
        f"The model and its KV cache fit on one pod, {room_said}. {seen}Take topology: "
        f"{{kind: single{tensor}}}, or {{kind: replicas, count: {pods}{tensor}}} for more users: on the same nodes "
        f"about {pods} times as many, as the 1B post expects and did not measure.{asking}",
        {"need_gib": round(need, 2), "room_gib": round(room, 2), "pods": pods, "ask_gib": ask},
        mistake=True,
    )


def _bigger_machine(facts: Facts) -> Iterator[Warned]:
    """A split that is needed on these nodes, and would not be on another instance type for the same money."""
    settings, whole = facts.settings, facts.whole
    group, cluster = settings.nodes.engine, settings.cluster
    if (
        not isinstance(settings.topology, Split)
        or not isinstance(group, InstanceGroup)
        or not isinstance(cluster, EksCluster)
        or settings.device != "cpu"
        or whole is None
        or fits_one_pod(facts)
    ):
        return
    # The engine's guard counts the page cache of the checkpoint as taken; with this much it surely passes.
    need = at_least(whole.largest.high_gib + (facts.checkpoint_gib or 0), 1)
    paid = cost_usd(cluster.region, group)
    found = alternatives(
        cluster.region, group, need_gib=need, cpu=settings.engine.resources.cpu, beside_mib=facts.beside_mib
    )
    if not found or paid is None:
        return
    family = group.instance.partition(".")[0]
    own = next((one for one in found if one.instance.startswith(f"{family}.")), None)
    shown = [found[0], *([own] if own and own != found[0] else [])]
    yield Warned(
        "another-instance-avoids-split",
        f"One {' or one '.join(map(str, shown))} would hold the whole model in one pod: at most "
        f"{whole.largest.high_gib:.1f} GiB, and the {facts.checkpoint_gib or 0:.1f} GiB of its files in the page cache "
        f"(engine.resources.memory_gib: {need:g}); the {group.count} {group.instance} cost {paid:.4f} USD an hour.",
        {"need_gib": need, "usd_per_hour": paid, **{one.instance: one.usd_per_hour for one in shown}},
    )


def _idle_nodes(facts: Facts) -> Iterator[Warned]:
    settings = facts.settings
    if not settings.topology.groups:
        return
    used = {room.name for room in facts.placement.nodes if any(place.owner == "engine" for place in room.pods)}
    idle = sorted(room.name for room in facts.placement.nodes if room.group == "engine" and room.name not in used)
    if not idle:
        return
    instead = "a replica more costs nothing" if isinstance(settings.topology, Single) else "they serve nothing"
    yield Warned(
        "idle-engine-nodes",
        f"{len(idle)} of {settings.nodes.engine.count} engine nodes hold no engine pod: {', '.join(idle)}; {instead}.",
        {"idle": len(idle)},
    )
