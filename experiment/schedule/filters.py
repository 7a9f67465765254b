"""Which nodes take a pod, and why others do not, in the scheduler's words.

The plugins are asked in the scheduler's order, and the first that refuses is the only one that is heard:
NodeUnschedulable, TaintToleration, NodeAffinity, NodeResourcesFit, InterPodAffinity.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from experiment.resources import GPU
from experiment.schedule.objects import Node, Pod, Taint
from experiment.schedule.occupancy import Occupancy
from experiment.schedule.outcome import Reason

NOT_ITS_NODE = "node(s) didn't satisfy plugin(s) [NodeAffinity]"
UNSCHEDULABLE = "node(s) were unschedulable"
TAINTED = "node(s) had untolerated taint(s)"
NOT_SELECTED = "node(s) didn't match Pod's node affinity/selector"
TOO_MANY_PODS = "Too many pods"
NO_CPU = "Insufficient cpu"
NO_MEMORY = "Insufficient memory"
NO_GPU = f"Insufficient {GPU}"
APART = "node(s) didn't match pod anti-affinity rules"
OTHERS_APART = "node(s) didn't satisfy existing pods anti-affinity rules"

_NOT_HELPFUL = "Preemption is not helpful for scheduling"
_NO_VICTIMS = "No preemption victims found for incoming pod"

_CORDON = Taint(key="node.kubernetes.io/unschedulable", effect="NoSchedule")
_Place = tuple[str, str | None]
"""A topology label and its value."""


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """Why one node does not take a pod.

    Attributes:
        reasons: one, or several amounts that are short.
        for_good: whether it would not either if it were empty; then eviction is not tried there.
    """

    reasons: tuple[str, ...]
    for_good: bool


def refusals(pod: Pod, nodes: Sequence[Occupancy]) -> list[Refusal | None]:
    """Return for every node why it does not take the pod, or None if it does."""
    own = {
        _place(one.node, term.topology)
        for term in pod.apart_from
        for one in nodes
        if any(pod.keeps_apart_from(other, term) for other in one.pods)
    }
    others = {
        _place(one.node, term.topology)
        for one in nodes
        for other in one.pods
        for term in other.apart_from
        if other.keeps_apart_from(pod, term)
    }
    return [suits(pod, one.node) or fits(pod, one) or _keeps_apart(one.node, own, others) for one in nodes]


def suits(pod: Pod, node: Node) -> Refusal | None:
    """Return why a node does not take the pod whatever else is on it, but for its size."""
    if pod.node is not None and pod.node != node.name:
        return Refusal(reasons=(NOT_ITS_NODE,), for_good=True)
    if node.unschedulable and not _tolerates(pod, _CORDON):
        return Refusal(reasons=(UNSCHEDULABLE,), for_good=True)
    if any(taint.effect != "PreferNoSchedule" and not _tolerates(pod, taint) for taint in node.taints):
        return Refusal(reasons=(TAINTED,), for_good=True)
    if any(node.label(key) != value for key, value in pod.selector.items()):
        return Refusal(reasons=(NOT_SELECTED,), for_good=True)
    return None


def has_room(pod: Pod, at: Occupancy) -> bool:
    """Tell whether a pod fits beside the pods that are on the node; what it does not ask for is not looked at."""
    node = at.node
    return (
        len(at.pods) < node.pods
        and (not pod.cpu_millicores or pod.cpu_millicores <= node.cpu_millicores - at.cpu_millicores)
        and (not pod.memory_mib or pod.memory_mib <= node.memory_mib - at.memory_mib)
        and (not pod.gpus or pod.gpus <= node.gpus - at.gpus)
    )


def fits(pod: Pod, at: Occupancy) -> Refusal | None:
    """Return which amounts are short on the node."""
    if has_room(pod, at):
        return None
    node = at.node
    amounts = (
        (NO_CPU, pod.cpu_millicores, at.cpu_millicores, node.cpu_millicores),
        (NO_MEMORY, pod.memory_mib, at.memory_mib, node.memory_mib),
        (NO_GPU, pod.gpus, at.gpus, node.gpus),
    )
    short = [text for text, wanted, used, there in amounts if wanted and wanted > there - used]
    if len(at.pods) >= node.pods:
        short.insert(0, TOO_MANY_PODS)
    return Refusal(reasons=tuple(short), for_good=any(wanted > there for _, wanted, _, there in amounts))


def _place(node: Node, topology: str) -> _Place:
    return topology, node.label(topology)


def _keeps_apart(node: Node, own: AbstractSet[_Place], others: AbstractSet[_Place]) -> Refusal | None:
    """Return why a node is too near to other pods; a node without the topology's label is near to none."""
    if any(node.label(topology) == value is not None for topology, value in own):
        return Refusal(reasons=(APART,), for_good=False)
    if any(node.label(topology) == value is not None for topology, value in others):
        return Refusal(reasons=(OTHERS_APART,), for_good=False)
    return None


def message(found: Iterable[Refusal]) -> tuple[tuple[Reason, ...], str]:
    """Return the reasons and the text of the event when every node refuses.

    No pod of lower priority is assumed on the nodes: see `schedule`.

    Args:
        found: one for each node of the cluster.
    """
    refused = list(found)
    if not refused:
        return (), "no nodes available to schedule pods"
    # The scheduler sorts the texts with their numbers before them: "10 ..." stands before "2 ...".
    reasons = _sorted(Counter(reason for one in refused for reason in one.reasons))
    evictions = _sorted(Counter(_NOT_HELPFUL if one.for_good else _NO_VICTIMS for one in refused))
    none = f"0/{len(refused)} nodes are available"
    return (
        reasons,
        f"{none}: {_listed(reasons)}. no new claims to deallocate, preemption: {none}: {_listed(evictions)}.",
    )


def _sorted(counts: Counter[str]) -> tuple[Reason, ...]:
    return tuple(
        Reason(text=text, nodes=nodes)
        for _, text, nodes in sorted((f"{nodes} {text}", text, nodes) for text, nodes in counts.items())
    )


def _listed(reasons: Iterable[Reason]) -> str:
    return ", ".join(f"{reason.nodes} {reason.text}" for reason in reasons)


def _tolerates(pod: Pod, taint: Taint) -> bool:
    return any(toleration.tolerates(taint) for toleration in pod.tolerations)
