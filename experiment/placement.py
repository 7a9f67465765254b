"""Whether the pods of a topology find room on the nodes that were declared; arithmetic, no cluster is asked."""

from math import floor

from experiment.nodes import NodeGroup
from experiment.problem import Problem
from experiment.resources import PodResources
from experiment.topology import Topology

CONTROLLER = PodResources(cpu=0.1, memory_gib=0.125)
"""What the LeaderWorkerSet controller asks for; its chart's own default is a whole core."""

_ROUNDING = 1e-9


def check(
    system: NodeGroup,
    engine_nodes: NodeGroup,
    topology: Topology,
    engine: PodResources,
    benchmark: PodResources | None,
    *,
    controller: bool,
) -> list[Problem]:
    """Return what cannot be placed, nothing if all can.

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


def _engine_pods(group: NodeGroup, topology: Topology, engine: PodResources) -> list[Problem]:
    groups, size = topology.groups, topology.size
    if groups == 0:
        return []
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
    room = group.count * min(groups, _pods_per_node(group, engine))
    wanted = groups * size
    if wanted > room:
        return [
            Problem(
                "topology.count",
                str(groups),
                f"its {wanted} pods of {engine.cpu:g} CPU and {engine.memory_gib:g} GiB do not fit: "
                f"{group.count} node(s) of {group.cpu:g} CPU and {group.memory_gib:g} GiB hold {room}",
                "Declare more or bigger engine nodes, or ask for fewer or smaller pods.",
            )
        ]
    return []


def _system_pods(group: NodeGroup, benchmark: PodResources | None, controller: bool) -> list[Problem]:
    if benchmark is None:
        return []
    # With several nodes the controller can be on another one than the benchmark.
    beside = CONTROLLER if controller and group.count == 1 else None
    cpu = benchmark.cpu + (beside.cpu if beside else 0)
    memory = benchmark.memory_gib + (beside.memory_gib if beside else 0)
    if cpu <= group.cpu + _ROUNDING and memory <= group.memory_gib + _ROUNDING:
        return []
    return [
        Problem(
            "benchmark.resources",
            f"{benchmark.cpu:g} CPU, {benchmark.memory_gib:g} GiB",
            f"with the LeaderWorkerSet controller ({CONTROLLER.cpu:g} CPU, {CONTROLLER.memory_gib:g} GiB) "
            f"it does not fit a system node of {group.cpu:g} CPU and {group.memory_gib:g} GiB"
            if beside
            else f"no system node of {group.cpu:g} CPU and {group.memory_gib:g} GiB can hold it",
            "Ask for less, or declare bigger system nodes if they are.",
        )
    ]


def _too_big(group: NodeGroup, pod: PodResources) -> list[Problem]:
    return [
        Problem(
            f"engine.resources.{key}",
            f"{asked:g}",
            f"no node of nodes.engine leaves more than {there:g} {unit} to pods",
            f"Ask for {there:g} or less, or declare bigger nodes if they are.",
        )
        for key, asked, there, unit in (
            ("cpu", pod.cpu, group.cpu, "CPU cores"),
            ("memory_gib", pod.memory_gib, group.memory_gib, "GiB"),
        )
        if asked > there + _ROUNDING
    ]


def _pods_per_node(group: NodeGroup, pod: PodResources) -> int:
    return min(floor(group.cpu / pod.cpu + _ROUNDING), floor(group.memory_gib / pod.memory_gib + _ROUNDING))
