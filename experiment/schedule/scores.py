"""How the scheduler ranks the nodes that take a pod: its default plugins with their weights.

Three of them give all nodes the same here: NodeAffinity (no preference is modelled), ImageLocality (as if no node had
an image) and PodTopologySpread. The last one does weigh pods that a Service, a ReplicaSet or a StatefulSet selects,
by the scheduler's own defaults, and images do weigh once nodes have run; so of a cluster's life the ranks say what is
likely, not what is certain.
"""

import math
from collections import Counter
from collections.abc import Sequence

from experiment.schedule.objects import Pod
from experiment.schedule.occupancy import Occupancy, scored_cpu_millicores, scored_memory_mib

_TOP = 100
_TAINTS, _APART = 3, 2
"""Weights of TaintToleration and InterPodAffinity; both resource plugins weigh 1."""


def scores(pod: Pod, feasible: Sequence[Occupancy], nodes: Sequence[Occupancy]) -> list[int]:
    """Return the score of each feasible node; the scheduler picks at random among the highest.

    Args:
        pod: the pod that comes.
        feasible: the nodes that take it.
        nodes: all nodes of the cluster.
    """
    parts = zip(_by_taints(pod, feasible), _by_distance(pod, feasible, nodes), strict=True)
    return [
        _TAINTS * taints + _APART * distance + _least_allocated(pod, one) + _balanced(pod, one)
        for one, (taints, distance) in zip(feasible, parts, strict=True)
    ]


def _least_allocated(pod: Pod, at: Occupancy) -> int:
    """Return the score of NodeResourcesFit: the mean share of CPU and memory that would be left."""
    amounts = (
        (at.scored_cpu_millicores + scored_cpu_millicores(pod), at.node.cpu_millicores),
        (at.scored_memory_mib + scored_memory_mib(pod), at.node.memory_mib),
    )
    parts = [max(there - wanted, 0) * _TOP // there for wanted, there in amounts if there]
    return sum(parts) // len(parts) if parts else 0


def _balanced(pod: Pod, at: Occupancy) -> int:
    """Return the score of NodeResourcesBalancedAllocation: how near CPU and memory come to the same share."""
    if not pod.cpu_millicores and not pod.memory_mib:
        return 0
    amounts = (
        (at.cpu_millicores + pod.cpu_millicores, at.node.cpu_millicores),
        (at.memory_mib + pod.memory_mib, at.node.memory_mib),
    )
    shares = [min(wanted / there, 1.0) for wanted, there in amounts if there]
    deviation = abs((shares[0] - shares[1]) / 2) if len(shares) == len(amounts) else 0.0
    return int((1 - deviation) * _TOP)


def _by_taints(pod: Pod, feasible: Sequence[Occupancy]) -> list[int]:
    """Return the scores of TaintToleration: fewer untolerated `PreferNoSchedule` taints are better."""
    tolerations = [one for one in pod.tolerations if one.effect in (None, "PreferNoSchedule")]
    counts = [
        sum(
            taint.effect == "PreferNoSchedule" and not any(one.tolerates(taint) for one in tolerations)
            for taint in at.node.taints
        )
        for at in feasible
    ]
    most = max(counts, default=0)
    return [_TOP - (_TOP * count // most if most else 0) for count in counts]


def _by_distance(pod: Pod, feasible: Sequence[Occupancy], nodes: Sequence[Occupancy]) -> list[int]:
    """Return the scores of InterPodAffinity: fewer pods near it that either would rather not have there."""
    weights: Counter[tuple[str, str | None]] = Counter()
    for at in nodes:
        for other in at.pods:
            for one, that in ((pod, other), (other, pod)):
                for preference in one.away_from:
                    if one.keeps_apart_from(that, preference.term):
                        topology = preference.term.topology
                        weights[topology, at.node.label(topology)] -= preference.weight
    topologies = {topology for topology, value in weights if value is not None}
    if not topologies:
        return [0] * len(feasible)
    found = [
        sum(weights[topology, value] for topology in topologies if (value := at.node.label(topology)) is not None)
        for at in feasible
    ]
    least, span = min(found), max(found) - min(found)
    return [math.trunc(_TOP * ((one - least) / span)) if span else 0 for one in found]
