"""One pod after the other, in the order in which they come."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from experiment.schedule.filters import message, refusals
from experiment.schedule.objects import Node, Pod
from experiment.schedule.occupancy import Occupancy
from experiment.schedule.outcome import Assignment, Pending
from experiment.schedule.scores import scores


@dataclass(frozen=True, kw_only=True)
class Choice:
    """What the scheduler has to choose from for one pod.

    Attributes:
        pod: the pod.
        feasible: names of the nodes that take it, in the order of the nodes.
        best: those of them with the highest score: the real scheduler takes one at random. Of more than 100 nodes it
            looks at a part only, so that any feasible one may be taken.
    """

    pod: Pod
    feasible: tuple[str, ...]
    best: tuple[str, ...]


def first_of_the_best(choice: Choice) -> str:
    """Choose the first of the nodes with the highest score."""
    return choice.best[0]


def schedule(
    nodes: Sequence[Node], pods: Iterable[Pod], choose: Callable[[Choice], str] = first_of_the_best
) -> Assignment:
    """Return where the pods end that come in this order, and what stays Pending.

    Pods of a higher priority are taken first: one that comes late evicts what is in its way, and what it evicts comes
    again.

    Args:
        nodes: of the cluster.
        pods: in the order of their arrival.
        choose: returns one of the feasible nodes' names.

    Raises:
        ValueError: a node was chosen that does not take the pod.
    """
    occupied = [Occupancy(node) for node in nodes]
    pending = []
    for pod in sorted(pods, key=lambda pod: -pod.priority):
        refused = refusals(pod, occupied)
        feasible = [one for one, refusal in zip(occupied, refused, strict=True) if refusal is None]
        if not feasible:
            reasons, text = message(refusal for refusal in refused if refusal)
            pending.append(Pending(pod=pod.name, owner=pod.owner, reasons=reasons, message=text))
            continue
        found = scores(pod, feasible, occupied)
        names = tuple(one.node.name for one in feasible)
        highest = max(found)
        best = tuple(name for name, score in zip(names, found, strict=True) if score == highest)
        chosen = choose(Choice(pod=pod, feasible=names, best=best))
        if chosen not in names:
            raise ValueError(f"{pod.name} does not fit on {chosen}, only on {', '.join(names)}")
        feasible[names.index(chosen)].add(pod)
    return Assignment(nodes=tuple(one.use() for one in occupied), pending=tuple(pending))
