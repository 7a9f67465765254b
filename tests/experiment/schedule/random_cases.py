"""Nodes and pods at random, tight enough that much stays Pending: drawn by hypothesis, or by a seed."""

from dataclasses import dataclass
from random import Random

from experiment.schedule import AntiAffinity, LabelSelector, Node, Pod, Preference, Requirement, Taint, Toleration

GPU_TAINT = Taint(key="nvidia.com/gpu", value="present")
SOFT_TAINT = Taint(key="slow", effect="PreferNoSchedule")
APPS = ("a", "b")
GROUPS = ("system", "engine")
# What EKS leaves to pods of m7g.large, xlarge and 2xlarge, in millicores, MiB and pods.
SIZES = ((1930, 7079, 29), (3920, 14968, 58), (7910, 30515, 58))


@dataclass(frozen=True)
class Case:
    """A cluster and what comes to it, in order."""

    nodes: tuple[Node, ...]
    pods: tuple[Pod, ...]


def case(random: Random, *, nodes: int, pods: int, sorts: int, priorities: bool = False) -> Case:
    """Draw up to so many nodes and pods, the pods of up to so many sorts."""
    found = tuple(_node(random, f"node-{number}") for number in range(random.randint(1, nodes)))
    kinds = [_pod(random, found, priorities) for _ in range(random.randint(1, sorts))]
    chosen = [random.choice(kinds) for _ in range(random.randint((pods + 1) // 2, pods))]
    return Case(found, tuple(Pod(**{**vars(kind), "name": f"pod-{index}"}) for index, kind in enumerate(chosen)))


def _node(random: Random, name: str) -> Node:
    gpus = random.choice((0, 0, 2))
    cpu_millicores, memory_mib, pods = random.choice(SIZES)
    return Node(
        name=name,
        labels={"group": random.choice(GROUPS)},
        taints=((GPU_TAINT,) if gpus and random.random() < 0.4 else ())
        + ((SOFT_TAINT,) if random.random() < 0.2 else ()),
        cpu_millicores=cpu_millicores,
        memory_mib=memory_mib,
        pods=random.choice((2, pods, pods, pods, pods)),
        gpus=gpus,
        unschedulable=random.random() < 0.06,
    )


def _pod(random: Random, nodes: tuple[Node, ...], priorities: bool) -> Pod:
    gpus = random.choice((0, 0, 0, 0, 0, 0, 0, 1, 2))
    tolerations = [Toleration(key="nvidia.com/gpu", value=random.choice((None, "present", "absent")))]
    return Pod(
        name="",
        owner=random.choice(("x", "y")),
        namespace="default",
        labels={"app": random.choice(APPS), "group": random.choice("01")},
        cpu_millicores=random.choice((0, 100, 500, 910, 1000, 1930, 3000, 6000)),
        memory_mib=random.choice((0, 128, 256, 1024, 1024, 7000, 20480)),
        gpus=gpus,
        selector=random.choice(({}, {}, {"group": "engine"}, {"group": "system"})),
        node=random.choice(nodes).name if random.random() < 0.15 else None,
        tolerations=tuple(tolerations)
        if random.random() < (0.8 if gpus else 0.2)
        else ((Toleration(),) if random.random() < 0.1 else ()),
        apart_from=(_term(random),) if random.random() < 0.4 else (),
        away_from=(Preference(term=_term(random), weight=random.choice((1, 100))),) if random.random() < 0.3 else (),
        priority=random.choice((0, 0, 10)) if priorities else 0,
    )


def _term(random: Random) -> AntiAffinity:
    by_group = (Requirement(key="group", operator=random.choice(("In", "NotIn")), values=("1",)),)
    return AntiAffinity(
        selector=LabelSelector(
            labels={"app": random.choice(APPS)} if random.random() < 0.8 else {},
            expressions=by_group if random.random() < 0.5 else (),
        )
    )
