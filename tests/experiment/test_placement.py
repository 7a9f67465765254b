from experiment import placement
from experiment.nodes import NodeGroup
from experiment.resources import PodResources
from experiment.topology import NoTopology, Replicas, Single, Split, Topology


def nodes(engine: int = 2, cpu: float = 7.9, memory_gib: float = 29.8, system: int = 1) -> tuple[NodeGroup, NodeGroup]:
    return (
        NodeGroup(count=system, cpu=0.6, memory_gib=1, selector={"group": "system"}),
        NodeGroup(count=engine, cpu=cpu, memory_gib=memory_gib, selector={"group": "engine"}),
    )


def paths(
    topology: Topology,
    declared: tuple[NodeGroup, NodeGroup],
    pod: PodResources | None = None,
    benchmark: PodResources | None = None,
) -> list[str]:
    pod = pod or PodResources(cpu=6, memory_gib=20)
    return [problem.path for problem in placement.check(*declared, topology, pod, benchmark, controller=True)]


SPLIT = Split(kind="split", pipeline=2)
SINGLE = Single(kind="single")


def test_the_posts_split_fits_its_nodes() -> None:
    assert paths(SPLIT, nodes()) == []


def test_a_tenth_of_a_core_too_little_is_found() -> None:
    # The 1B post: 6 asked for, 5.9 left, and the worker sat Pending.
    assert paths(SPLIT, nodes(cpu=5.9)) == ["engine.resources.cpu"]


def test_cpu_and_memory_are_both_named() -> None:
    assert paths(SINGLE, nodes(cpu=1, memory_gib=1)) == ["engine.resources.cpu", "engine.resources.memory_gib"]


def test_stages_are_on_different_nodes_even_where_one_could_hold_both() -> None:
    assert paths(SPLIT, nodes(engine=1, cpu=64, memory_gib=256)) == ["topology.pipeline"]


def test_replicas_may_share_a_node() -> None:
    assert paths(Replicas(kind="replicas", count=2), nodes(engine=1, cpu=12, memory_gib=40)) == []
    assert paths(Replicas(kind="replicas", count=3), nodes(engine=1, cpu=12, memory_gib=80)) == ["topology.count"]
    assert paths(Replicas(kind="replicas", count=3), nodes(engine=2, cpu=12, memory_gib=40)) == []


def test_room_is_not_lost_to_rounding() -> None:
    assert (
        paths(Replicas(kind="replicas", count=3), nodes(engine=1, cpu=0.9), PodResources(cpu=0.3, memory_gib=1)) == []
    )


def test_nothing_served_needs_no_room() -> None:
    assert paths(NoTopology(kind="none"), nodes(cpu=0.1), benchmark=PodResources(cpu=64, memory_gib=64)) == []


def test_the_benchmark_shares_the_only_system_node_with_the_controller() -> None:
    fits = PodResources(cpu=0.5, memory_gib=0.5)
    tight = PodResources(cpu=0.55, memory_gib=0.5)
    assert paths(SINGLE, nodes(), benchmark=fits) == []
    assert paths(SINGLE, nodes(), benchmark=tight) == ["benchmark.resources"]
    assert paths(SINGLE, nodes(system=2), benchmark=tight) == []
    assert paths(SINGLE, nodes(), benchmark=PodResources(cpu=0.61, memory_gib=0.5)) == ["benchmark.resources"]


def test_a_controller_that_is_there_already_takes_no_room() -> None:
    pod, benchmark = PodResources(cpu=6, memory_gib=20), PodResources(cpu=0.6, memory_gib=1)
    assert placement.check(*nodes(), SINGLE, pod, benchmark, controller=False) == []
    assert len(placement.check(*nodes(), SINGLE, pod, benchmark, controller=True)) == 1


def test_replicas_share_the_gpus_of_a_node() -> None:
    system, _ = nodes()
    engine = NodeGroup(count=2, cpu=96, memory_gib=700, gpus=4, selector={"group": "engine"})
    pod = PodResources(cpu=16, memory_gib=100)
    fits, too_many = (Replicas(kind="replicas", count=count, tensor=2) for count in (4, 5))
    assert paths(fits, (system, engine), pod) == []
    assert paths(too_many, (system, engine), pod) == ["topology.count"]


def test_a_node_takes_so_many_pods() -> None:
    tiny = PodResources(cpu=0.01, memory_gib=0.01)
    fits, too_many = (Replicas(kind="replicas", count=count) for count in (220, 221))
    assert paths(fits, nodes(), tiny) == []
    assert paths(too_many, nodes(), tiny) == ["topology.count"]
