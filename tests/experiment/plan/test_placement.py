"""Where pods land, and what some order leaves Pending."""

from dataclasses import replace
from typing import Any

import pytest

from experiment.plan.machines import nodes
from experiment.plan.placement import MANY_NODES, Placement, placement
from experiment.plan.plan import make
from experiment.plan.pods import BENCHMARK, CONTROLLER_OWNER, ENGINE, pods
from experiment.schedule import Pod
from tests.experiment.plan.samples import GEMMA_1B, GEMMA_12B, NOW, settings

DECLARED = {
    "system": {"count": 1, "cpu": 2, "memory_gib": 4, "selector": {"group": "system"}},
    "engine": {"count": 2, "cpu": 7.9, "memory_gib": 29.8, "selector": {"group": "engine"}},
}


def placed(sample: dict[str, Any], **changes: Any) -> Placement:
    return make(settings(sample, **changes), NOW).placement


def test_m7g_2xlarge_leaves_what_the_posts_saw() -> None:
    """Posts: 7.9 vCPU free of which 6 are asked for, and 29.8 GiB."""
    engine = [room for room in placed(GEMMA_12B).nodes if room.group == "engine"]
    assert [(room.cpu_millicores, round(room.memory_mib / 1024, 1)) for room in engine] == [(7910, 29.8)] * 2
    assert not any(room.estimated for room in engine)


def test_the_stages_of_a_split_are_on_nodes_of_their_own() -> None:
    engine = [room for room in placed(GEMMA_12B).nodes if room.group == "engine"]
    assert [[place.owner for place in room.pods].count(ENGINE) for room in engine] == [1, 1]


def test_controller_and_benchmark_share_no_node_with_the_engine() -> None:
    for room in placed(GEMMA_12B).nodes:
        owners = {place.owner for place in room.pods}
        assert (ENGINE in owners) == (room.group == "engine")
        assert (CONTROLLER_OWNER in owners) == (room.group == "system")


def test_the_benchmark_stays_pending_rather_than_beside_an_engine() -> None:
    """On nodes that all carry the same labels its own rule is what keeps it away, in every order of arrival."""
    stack = settings(GEMMA_1B)
    machines = [replace(node, labels={}) for node in nodes(stack.nodes) if node.name.startswith("engine")]
    ours = [replace(pod, selector={}) for pod in pods(stack, machines) if pod.owner in (ENGINE, BENCHMARK)]
    found = {waiting.owner: waiting for waiting in placement(stack.nodes, machines, ours).waiting}
    assert (found[BENCHMARK].least, found[BENCHMARK].most) == (0, 1)
    assert "anti-affinity" in found[BENCHMARK].reason
    assert (found[ENGINE].least, found[ENGINE].most) == (0, 1), "a benchmark that is there first keeps the engine away"


def test_what_a_cluster_cannot_do_without_is_never_what_waits() -> None:
    priorities = {pod.owner: pod.priority for pod in pods(settings(GEMMA_12B), nodes(settings(GEMMA_12B).nodes))}
    assert priorities["vpc-cni"] > priorities["coredns"] > priorities[ENGINE] == priorities[BENCHMARK] == 0


def test_the_story_of_the_controllers_whole_core() -> None:
    """1B post: beside the monitoring the chart's 1 vCPU left 5.9 of a node, and the worker Pending; 100m cured it."""
    stack = settings(GEMMA_1B)
    machines = [replace(node, labels={}) for node in nodes(stack.nodes) if node.name.startswith("engine")]
    ours = [replace(pod, selector={}) for pod in pods(stack, machines) if pod.owner in (ENGINE, CONTROLLER_OWNER)]
    # 7.91 less 5.9 less 1 on the node with the monitoring, and the usual daemons on the other.
    there = [
        Pod(name=name, owner=name, node=node, cpu_millicores=cpu, memory_mib=600, priority=1)
        for name, node, cpu in (("monitoring", "engine-1", 1010), ("daemons", "engine-2", 410))
    ]
    assert placement(stack.nodes, machines, [*there, *ours]).waiting == ()
    greedy = [replace(pod, cpu_millicores=1000) if pod.owner == CONTROLLER_OWNER else pod for pod in ours]
    (waiting,) = placement(stack.nodes, machines, [*there, *greedy]).waiting
    assert (waiting.owner, waiting.least, waiting.most, waiting.of) == (ENGINE, 0, 1, 2)
    assert "Insufficient cpu" in waiting.reason
    assert str(waiting).startswith("0 to 1, by the order of arrival, of 2 engine pod(s) stay Pending: 0/2 nodes")


def test_what_stays_pending_in_every_order_is_a_refusal() -> None:
    plan = make(settings(GEMMA_12B, benchmark__resources={"cpu": 1.9, "memory_gib": 1}), NOW)
    assert [refusal.name for refusal in plan.refusals] == ["pods-stay-pending"]
    assert "benchmark pod(s) stay Pending" in plan.stops[0]


def test_what_some_order_leaves_pending_is_a_mistake() -> None:
    plan = make(settings(GEMMA_12B, benchmark__resources={"cpu": 1.2, "memory_gib": 1}), NOW)
    found = [advice for advice in plan.advice if advice.stops]
    assert {advice.name for advice in found} == {"order-may-leave-pending"}


@pytest.mark.parametrize("count", [2, MANY_NODES + 40])
def test_replicas_on_as_many_nodes_all_find_room(count: int) -> None:
    found = placed(
        GEMMA_1B,
        nodes__engine={"instance": "m7g.2xlarge", "count": count},
        topology={"kind": "replicas", "count": count},
    )
    assert (found.waiting, found.undecided) == ((), ())
    assert found.folded == (count > MANY_NODES)
    assert sum(place.owner == ENGINE for room in found.nodes for place in room.pods) == count


def test_what_is_left_is_what_is_there_less_what_is_asked_for() -> None:
    for room in placed(GEMMA_1B).nodes:
        assert room.free_cpu_millicores == room.cpu_millicores - sum(place.cpu_millicores for place in room.pods)
        assert room.free_memory_mib == room.memory_mib - sum(place.memory_mib for place in room.pods)


def test_declared_nodes_hold_our_pods_alone() -> None:
    found = placed(
        GEMMA_1B,
        cluster={"kind": "kubeconfig", "kubeconfig": "/somewhere"},
        nodes=DECLARED,
        benchmark__results={"kind": "claim"},
    )
    assert [sorted({place.owner for place in room.pods}) for room in found.nodes] == [
        sorted({CONTROLLER_OWNER, "benchmark"}),
        [ENGINE],
        [ENGINE],
    ]
