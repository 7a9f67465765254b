"""Scores by hand, after the formulas of the default plugins; the real scheduler's choices are in tests/engine."""

from experiment.schedule import AntiAffinity, LabelSelector, Node, Pod, Preference, Taint, Toleration, schedule
from experiment.schedule.occupancy import Occupancy
from experiment.schedule.scores import scores

SAME = 3 * 100  # TaintToleration of nodes without taints, by its weight


def node(name: str, cpu: int = 1000, memory: int = 1000, taints: tuple[Taint, ...] = ()) -> Node:
    return Node(name=name, cpu_millicores=cpu, memory_mib=memory, pods=10, taints=taints)


def found(pod: Pod, *nodes: Node, **there: Pod) -> list[int]:
    occupied = [Occupancy(one) for one in nodes]
    for one in occupied:
        if one.node.name in there:
            one.add(there[one.node.name])
    return scores(pod, occupied, occupied)


def test_the_emptier_and_the_more_balanced_node_scores_higher() -> None:
    pod = Pod(name="p", cpu_millicores=100, memory_mib=300)
    # a: 90 % and 70 % are left: 80; shares 0.1 and 0.3 deviate by 0.1: 90
    # b: 80 % and 70 %: 75; shares 0.2 and 0.3: 95
    there = Pod(name="q", cpu_millicores=100, memory_mib=1)
    assert found(pod, node("a"), node("b"), b=there) == [SAME + 80 + 90, SAME + (80 + 69) // 2 + 94]


def test_a_pod_that_asks_for_nothing_weighs_a_tenth_of_a_core_and_200_mib() -> None:
    assert found(Pod(name="p"), node("a"), node("b"), b=Pod(name="q")) == [SAME + (90 + 80) // 2, SAME + (80 + 60) // 2]


def test_untolerated_preferences_of_nodes_count_threefold() -> None:
    soft, softer = Taint(key="a", effect="PreferNoSchedule"), Taint(key="b", effect="PreferNoSchedule")
    nodes = (node("a", taints=(soft, softer)), node("b", taints=(soft,)), node("c"))
    empty = (90 + 80) // 2
    assert found(Pod(name="p"), *nodes) == [empty, 150 + empty, 300 + empty]
    assert found(Pod(name="p", tolerations=(Toleration(key="a"),)), *nodes) == [empty, 300 + empty, 300 + empty]
    hard = (Toleration(key="a", effect="NoSchedule"),)
    assert found(Pod(name="p", tolerations=hard), *nodes) == [empty, 150 + empty, 300 + empty]


def test_a_pod_would_rather_be_away_from_others_and_they_from_it() -> None:
    away = (Preference(term=AntiAffinity(selector=LabelSelector(labels={"app": "x"})), weight=7),)
    wishes, meant = Pod(name="p", away_from=away), Pod(name="q", labels={"app": "x"})
    apart = [SAME + 200 + 85, SAME + 70]
    assert found(wishes, node("a"), node("b"), b=meant) == apart
    assert found(meant, node("a"), node("b"), b=wishes) == apart
    assert found(meant, node("a"), node("b"), b=meant) == [SAME + 85, SAME + 70]


def test_by_default_the_first_of_the_best_is_taken() -> None:
    pods = [Pod(name=name, cpu_millicores=300, memory_mib=300) for name in "pqr"]
    assert schedule([node("a"), node("b")], pods).node_of == {"p": "a", "q": "b", "r": "a"}


def test_who_chooses_sees_all_that_take_the_pod_and_the_best_of_them() -> None:
    seen = []

    def last(choice: object) -> str:
        seen.append(choice)
        return choice.feasible[-1]  # type: ignore[attr-defined,no-any-return]

    full = Pod(name="full", cpu_millicores=1000, selector={"kubernetes.io/hostname": "a"})
    schedule([node("a"), node("b", cpu=2000), node("c")], [full, Pod(name="p", cpu_millicores=500)], last)
    assert [(one.feasible, one.best) for one in seen] == [(("a",), ("a",)), (("b", "c"), ("b",))]  # type: ignore[attr-defined]
