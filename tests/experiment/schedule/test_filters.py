"""Why a node refuses, by the words of kube-scheduler 1.34 (k8s.io/kubernetes/pkg/scheduler/framework/plugins)."""

from dataclasses import replace

import pytest

from experiment.schedule import (
    AntiAffinity,
    LabelSelector,
    Node,
    Pod,
    Requirement,
    Taint,
    Toleration,
    schedule,
)
from experiment.schedule.filters import Refusal, message, refusals
from experiment.schedule.occupancy import Occupancy

NODE = Node(name="n", cpu_millicores=1000, memory_mib=1000, pods=10)
TAINT = Taint(key="k", value="v")


def reasons(pod: Pod, *there: Pod, node: Node = NODE) -> tuple[str, ...]:
    at = Occupancy(node)
    for other in there:
        at.add(other)
    (found,) = refusals(pod, [at])
    return found.reasons if found else ()


def pod(name: str = "p", **more: object) -> Pod:
    return Pod(name=name, **more)  # type: ignore[arg-type]


def test_a_pod_takes_what_is_left_to_the_last_bit() -> None:
    assert reasons(pod(cpu_millicores=400, memory_mib=400), pod(cpu_millicores=600, memory_mib=600)) == ()
    assert reasons(pod(cpu_millicores=401), pod(cpu_millicores=600)) == ("Insufficient cpu",)
    assert reasons(pod(memory_mib=401), pod(memory_mib=600)) == ("Insufficient memory",)


def test_everything_that_is_short_is_named() -> None:
    node = Node(name="n", cpu_millicores=1, memory_mib=1, pods=0)
    wanted = pod(cpu_millicores=2, memory_mib=2, gpus=1)
    short = ("Too many pods", "Insufficient cpu", "Insufficient memory", "Insufficient nvidia.com/gpu")
    assert reasons(wanted, node=node) == short


def test_what_is_not_asked_for_is_not_missed_on_a_node_that_has_too_little_of_it() -> None:
    assert reasons(pod(cpu_millicores=1), pod(memory_mib=5000)) == ()
    assert reasons(pod(), pod(cpu_millicores=5000)) == ()


@pytest.mark.parametrize(
    ("toleration", "tolerated"),
    [
        (Toleration(key="k", value="v", effect="NoSchedule"), True),
        (Toleration(key="k", value="v"), True),
        (Toleration(key="k"), True),
        (Toleration(), True),
        (Toleration(key="k", value="other"), False),
        (Toleration(key="other"), False),
        (Toleration(key="k", effect="NoExecute"), False),
    ],
)
def test_taints_need_a_toleration_that_matches_in_all_that_it_gives(toleration: Toleration, tolerated: bool) -> None:
    node = replace(NODE, taints=(TAINT,))
    assert reasons(pod(), node=node) == ("node(s) had untolerated taint(s)",)
    assert (reasons(pod(tolerations=(toleration,)), node=node) == ()) is tolerated


def test_a_preference_of_a_node_refuses_nobody() -> None:
    assert reasons(pod(), node=replace(NODE, taints=(Taint(key="k", effect="PreferNoSchedule"),))) == ()


def test_a_cordoned_node_takes_only_who_tolerates_that() -> None:
    node = replace(NODE, unschedulable=True)
    assert reasons(pod(), node=node) == ("node(s) were unschedulable",)
    assert reasons(pod(tolerations=(Toleration(key="node.kubernetes.io/unschedulable"),)), node=node) == ()


def test_nodes_are_selected_by_all_labels() -> None:
    node = replace(NODE, labels={"a": "1", "b": "2"})
    assert reasons(pod(selector={"a": "1", "b": "2"}), node=node) == ()
    assert reasons(pod(selector={"kubernetes.io/hostname": "n"}), node=node) == ()
    for selector in ({"a": "1", "b": "3"}, {"c": ""}, {"kubernetes.io/hostname": "other"}):
        assert reasons(pod(selector=selector), node=node) == ("node(s) didn't match Pod's node affinity/selector",)


def test_the_first_plugin_that_refuses_is_the_one_that_is_heard() -> None:
    apart = AntiAffinity(selector=LabelSelector())
    bad = Node(name="n", taints=(TAINT,), unschedulable=True, cpu_millicores=0, memory_mib=0, pods=9)
    wanted = pod(cpu_millicores=1, selector={"a": "1"}, apart_from=(apart,), node="other")
    told: list[str] = []
    told += reasons(wanted, pod(), node=bad)
    wanted = pod(cpu_millicores=1, selector={"a": "1"}, apart_from=(apart,))
    told += reasons(wanted, pod(), node=bad)
    told += reasons(wanted, pod(), node=Node(name="n", taints=(TAINT,), cpu_millicores=0, memory_mib=0, pods=9))
    told += reasons(wanted, pod(), node=Node(name="n", cpu_millicores=0, memory_mib=0, pods=9))
    told += reasons(wanted, pod(), node=Node(name="n", labels={"a": "1"}, cpu_millicores=0, memory_mib=0, pods=9))
    told += reasons(wanted, pod(), node=replace(NODE, labels={"a": "1"}))
    assert told == [
        "node(s) didn't satisfy plugin(s) [NodeAffinity]",
        "node(s) were unschedulable",
        "node(s) had untolerated taint(s)",
        "node(s) didn't match Pod's node affinity/selector",
        "Insufficient cpu",
        "node(s) didn't match pod anti-affinity rules",
    ]


def test_anti_affinity_holds_for_who_has_it_and_for_whom_it_means() -> None:
    apart = AntiAffinity(selector=LabelSelector(labels={"app": "engine"}))
    benchmark, engine = pod(apart_from=(apart,)), pod(labels={"app": "engine"})
    assert reasons(benchmark, engine) == ("node(s) didn't match pod anti-affinity rules",)
    assert reasons(engine, benchmark) == ("node(s) didn't satisfy existing pods anti-affinity rules",)
    assert reasons(benchmark, pod(labels={"app": "else"})) == ()
    assert reasons(benchmark, benchmark) == ()


def test_anti_affinity_means_its_own_namespace_unless_it_says_all() -> None:
    elsewhere = pod(labels={"app": "engine"}, namespace="other")
    for everywhere in (False, True):
        apart = AntiAffinity(selector=LabelSelector(labels={"app": "engine"}), everywhere=everywhere)
        assert bool(reasons(pod(apart_from=(apart,)), elsewhere)) is everywhere
        assert bool(reasons(elsewhere, pod(apart_from=(apart,)))) is everywhere


def test_anti_affinity_can_mean_all_nodes_of_a_zone() -> None:
    zones = [replace(NODE, name=f"n{n}", labels={"zone": zone}) for n, zone in enumerate("aab")]
    nowhere = replace(NODE, name="n3")
    apart = AntiAffinity(selector=LabelSelector(labels={"app": "x"}), topology="zone")
    pods = [pod(f"p{n}", labels={"app": "x"}, apart_from=(apart,)) for n in range(3)]
    places = iter(("n0", "n2", "n3"))
    assigned = schedule([*zones, nowhere], pods, lambda choice: next(places))
    assert assigned.node_of == {"p0": "n0", "p1": "n2", "p2": "n3"}
    with pytest.raises(ValueError, match="p1 does not fit on n1, only on n2, n3"):
        schedule([*zones, nowhere], pods, lambda choice: {"p0": "n0", "p1": "n1"}[choice.pod.name])


@pytest.mark.parametrize(
    ("requirement", "matches"),
    [
        (Requirement(key="a", operator="In", values=("1", "2")), (True, False, False)),
        (Requirement(key="a", operator="NotIn", values=("1", "2")), (False, True, True)),
        (Requirement(key="a", operator="Exists"), (True, True, False)),
        (Requirement(key="a", operator="DoesNotExist"), (False, False, True)),
    ],
)
def test_expressions_of_selectors(requirement: Requirement, matches: tuple[bool, ...]) -> None:
    selector = LabelSelector(expressions=(requirement,))
    assert tuple(selector.matches(labels) for labels in ({"a": "1"}, {"a": "3"}, {"b": "1"})) == matches


def test_the_event_counts_reasons_and_sorts_them_as_text() -> None:
    refused = [
        *[Refusal(reasons=("Insufficient cpu", "Insufficient memory"), for_good=False)] * 2,
        *[Refusal(reasons=("node(s) had untolerated taint(s)",), for_good=True)] * 10,
        Refusal(reasons=("Insufficient memory",), for_good=True),
    ]
    found, text = message(refused)
    assert [(one.nodes, one.text) for one in found] == [
        (10, "node(s) had untolerated taint(s)"),
        (2, "Insufficient cpu"),
        (3, "Insufficient memory"),
    ]
    assert text == (
        "0/13 nodes are available: 10 node(s) had untolerated taint(s), 2 Insufficient cpu, 3 Insufficient memory. "
        "no new claims to deallocate, preemption: 0/13 nodes are available: "
        "11 Preemption is not helpful for scheduling, 2 No preemption victims found for incoming pod."
    )


def test_a_pod_that_is_greater_than_an_empty_node_is_refused_for_good() -> None:
    at = Occupancy(NODE)
    assert [refusals(pod(cpu_millicores=amount), [at])[0] for amount in (1000, 1001)] == [
        None,
        Refusal(reasons=("Insufficient cpu",), for_good=True),
    ]
    at.add(pod(cpu_millicores=1))
    assert refusals(pod(cpu_millicores=1000), [at]) == [Refusal(reasons=("Insufficient cpu",), for_good=False)]


def test_without_nodes_it_says_so() -> None:
    (pending,) = schedule([], [pod()]).pending
    assert (pending.reasons, pending.message) == ((), "no nodes available to schedule pods")
