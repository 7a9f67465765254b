"""Whether the pods of a topology find room on the nodes that were declared, in any order; no cluster is asked."""

from dataclasses import replace
from math import floor

from experiment.nodes import NodeGroup
from experiment.problem import Problem
from experiment.resources import PodResources
from experiment.schedule import Node, Pod, Taint, foretell, schedule
from experiment.schedule.filters import NO_CPU, NO_MEMORY
from experiment.topology import Topology

CONTROLLER = PodResources(cpu=0.1, memory_gib=0.125)
"""What the LeaderWorkerSet controller asks for; its chart's own default is a whole core."""

KUBELET_PODS = 110
"""How many pods a kubelet takes where nobody said: its own default."""

_ROUNDING = 1e-6


def check(
    system: NodeGroup,
    engine_nodes: NodeGroup,
    topology: Topology,
    engine: PodResources,
    benchmark: PodResources | None,
    *,
    controller: bool,
) -> list[Problem]:
    """Return what cannot be placed in any order, nothing if all can.

    Args:
        system: count and size of the declared nodes of controller and benchmark.
        engine_nodes: count and size of the declared nodes of the engine.
        topology: how many groups of how many pods; the pods of one group are kept on different nodes.
        engine: what each engine pod asks for.
        benchmark: what its pod asks for, on a system node; none if nothing is measured.
        controller: whether the LeaderWorkerSet controller takes room on the system nodes.
    """
    return [
        *_engine_pods(engine_nodes, topology, engine),
        *_system_pods(system, benchmark if topology.groups else None, controller),
    ]


def declared_node(group: NodeGroup, name: str) -> Node:
    """Return one node of a declared group; its amounts are rounded down to millicores and MiB."""
    return Node(
        name=name,
        labels=group.selector,
        taints=tuple(Taint(key=one.key, value=one.value or "", effect=one.effect) for one in group.tolerations),
        cpu_millicores=floor(group.cpu * 1000 + _ROUNDING),
        memory_mib=floor(group.memory_gib * 1024 + _ROUNDING),
        pods=KUBELET_PODS,
        gpus=group.gpus,
    )


def _engine_pods(group: NodeGroup, topology: Topology, engine: PodResources) -> list[Problem]:
    groups, size = topology.groups, topology.size
    if groups == 0:
        return []
    gpus = topology.tensor if group.gpus else 0
    too_big = _too_big(group, engine)
    if too_big:
        return too_big
    if size > group.count:
        return [
            Problem(
                "topology.pipeline",
                str(size),
                f"its {size} pods must be on {size} different nodes, and nodes.engine.count is {group.count}",
                f"Declare {size} engine nodes or split into {group.count} stages at most.",
            )
        ]
    # The pods of one group are apart, so a node holds at most one of each group.
    on_one = schedule([_bare(group)], [_pod(f"{number}", engine, gpus) for number in range(groups)])
    room = group.count * len(on_one.node_of)
    wanted = groups * size
    if wanted > room:
        asked = f"{engine.cpu:g} CPU and {engine.memory_gib:g} GiB" + (f" and {gpus} GPU(s)" if gpus else "")
        there = f"{group.cpu:g} CPU and {group.memory_gib:g} GiB" + (f" and {group.gpus} GPU(s)" if gpus else "")
        return [
            Problem(
                "topology.count",
                str(groups),
                f"its {wanted} pods of {asked} do not fit: {group.count} node(s) of {there} hold {room}",
                "Declare more or bigger engine nodes, or ask for fewer or smaller pods.",
            )
        ]
    return []


def _system_pods(group: NodeGroup, benchmark: PodResources | None, controller: bool) -> list[Problem]:
    if benchmark is None:
        return []
    client = _pod("benchmark", benchmark)
    alone = bool(schedule([_bare(group)], [client]).pending)
    # Two pods have a node each as soon as there are two.
    nodes = [_bare(group, f"{number}") for number in range(min(group.count, 2))]
    beside = controller and not alone
    pods = [_pod("controller", CONTROLLER), client] if beside else [client]
    if foretell(nodes, pods).some_wait is False:
        return []
    return [
        Problem(
            "benchmark.resources",
            f"{benchmark.cpu:g} CPU, {benchmark.memory_gib:g} GiB",
            f"with the LeaderWorkerSet controller ({CONTROLLER.cpu:g} CPU, {CONTROLLER.memory_gib:g} GiB) "
            f"it does not fit {group.count} system node(s) of {group.cpu:g} CPU and {group.memory_gib:g} GiB"
            if beside
            else f"no system node of {group.cpu:g} CPU and {group.memory_gib:g} GiB can hold it",
            "Ask for less, or declare bigger system nodes if they are.",
        )
    ]


def _too_big(group: NodeGroup, engine: PodResources) -> list[Problem]:
    pending = schedule([_bare(group)], [_pod("engine", engine)]).pending
    short = {reason.text for one in pending for reason in one.reasons}
    return [
        Problem(
            f"engine.resources.{key}",
            f"{asked:g}",
            f"no node of nodes.engine leaves more than {there:g} {unit} to pods",
            f"Ask for {there:g} or less, or declare bigger nodes if they are.",
        )
        for text, key, asked, there, unit in (
            (NO_CPU, "cpu", engine.cpu, group.cpu, "CPU cores"),
            (NO_MEMORY, "memory_gib", engine.memory_gib, group.memory_gib, "GiB"),
        )
        if text in short
    ]


def _bare(group: NodeGroup, name: str = "node") -> Node:
    """Return a node of the group that every pod of the group suits."""
    return replace(declared_node(group, name), labels={}, taints=())


def _pod(name: str, resources: PodResources, gpus: int = 0) -> Pod:
    return Pod(name=name, cpu_millicores=resources.cpu_millicores, memory_mib=resources.memory_mib, gpus=gpus)
