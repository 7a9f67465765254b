"""What may stay Pending when nobody knows in which order the pods come, nor which node the scheduler takes.

A pod may come before or after any other, and any node that takes it counts, not only those with the highest score:
scores depend on what is not modelled (images on nodes, Services), so this errs on the side of foretelling more. Under
these rules pods end in exactly those assignments to which none of the waiting pods can be added: all that is placed
could have come first. So a pod can be left waiting if others can fill every node that suits it.

A pod of higher priority evicts lower ones where it finds no room, and they come again: it ends as if it had come first.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from experiment.schedule.fillings import MORE, Effort, TooManyWaysError, over_nodes, takes, undominated, ways
from experiment.schedule.filters import suits
from experiment.schedule.objects import Node, Pod
from experiment.schedule.occupancy import Occupancy
from experiment.schedule.outcome import Assignment, Pending
from experiment.schedule.question import Blockade, Question, limits
from experiment.schedule.scheduler import Choice, first_of_the_best, schedule
from experiment.schedule.sorts import Sort, reaches_further, sorted_out

_STEPS_EACH = 30_000
_STEPS_IN_ALL = 150_000


@dataclass(frozen=True, kw_only=True)
class Fate:
    """What can become of equal pods.

    Attributes:
        owner: what they are for.
        pods: their names.
        least: how many of them stay Pending in the best case; above 0, some do in every order.
        most: how many of them some order can leave Pending; 0 means none in any order.
        order: names of all pods, in an order that can leave `most` of them Pending; empty if none is known.
        example: where that order can leave every pod.
        exact: whether both bounds are reached; if not, `least` may be too low and `most` too high, never otherwise.
    """

    owner: str
    pods: tuple[str, ...]
    least: int
    most: int
    order: tuple[str, ...] = ()
    example: Assignment | None = None
    exact: bool = True


@dataclass(frozen=True, kw_only=True)
class Forecast:
    """What becomes of pods on nodes.

    Attributes:
        expected: where they land when they come in the given order and the first of the best nodes is taken.
        fates: of every sort of pods, in the order in which they were given.
        some_wait: whether in every order something stays Pending; None if it was not found out.
    """

    expected: Assignment
    fates: tuple[Fate, ...]
    some_wait: bool | None

    @property
    def always(self) -> tuple[Fate, ...]:
        """Sorts of which some stay Pending in every order."""
        return tuple(fate for fate in self.fates if fate.least)

    @property
    def sometimes(self) -> tuple[Fate, ...]:
        """Sorts of which some order leaves more Pending than another."""
        return tuple(fate for fate in self.fates if fate.most > fate.least)

    @property
    def never(self) -> tuple[Fate, ...]:
        """Sorts of which none stays Pending in any order."""
        return tuple(fate for fate in self.fates if not fate.most)

    @property
    def pending(self) -> tuple[Pending, ...]:
        """What stays Pending in the expected case."""
        return self.expected.pending


def foretell(nodes: Sequence[Node], pods: Sequence[Pod]) -> Forecast:
    """Return what stays Pending in every order, in some order, and in none.

    Args:
        nodes: of the cluster, each with a name of its own.
        pods: all that come, each with a name of its own.
    """
    effort = Effort(_STEPS_IN_ALL)
    sorts = sorted_out(pods)
    expected = schedule(nodes, pods)
    fates: dict[int, Fate] = {}
    for index in sorted(range(len(sorts)), key=lambda index: -sorts[index].one.priority):
        above = [fates[other] for other in fates if sorts[other].one.priority > sorts[index].one.priority]
        question = Question(nodes, sorts, sorts[index], certain=not any(fate.most for fate in above))
        fate, blockade = _fate(question, sorts[index], effort)
        fates[index] = _with_example(fate, blockade, nodes, pods) if blockade else fate
    return Forecast(
        expected=expected,
        fates=tuple(fates[index] for index in range(len(sorts))),
        some_wait=False if not expected.pending else _some_wait(nodes, sorts, effort),
    )


def _fate(question: Question, asked: Sort, effort: Effort) -> tuple[Fate, Blockade | None]:
    count = len(asked.pods)
    least, most, exact, blockade = 0, count, question.exact, None
    allowed = Effort(min(_STEPS_EACH, effort.steps))
    effort.steps -= allowed.steps
    try:
        least = count - question.room(allowed)
        if not question.unclear:
            blockade = question.blockade(allowed)
            most = blockade.left if blockade else 0
    except TooManyWaysError:
        exact = False
    effort.steps += allowed.steps
    names = tuple(pod.name for pod in asked.pods)
    return Fate(owner=asked.one.owner, pods=names, least=least, most=most, exact=exact), blockade


def _with_example(fate: Fate, blockade: Blockade, nodes: Sequence[Node], pods: Sequence[Pod]) -> Fate:
    """Add an order that ends so; if there is none after all, because whole zones are kept apart, say so."""
    places: dict[str, str] = {}
    for sort, number, node in blockade.by:
        waiting = [pod.name for pod in sort.pods if pod.name not in places]
        places |= dict.fromkeys(waiting[:number], node.name)

    def choose(choice: Choice) -> str:
        return places.get(choice.pod.name) or first_of_the_best(choice)

    turn = dict.fromkeys(fate.pods, 1) | dict.fromkeys(places, 0)
    order = sorted(pods, key=lambda pod: (-pod.priority, turn.get(pod.name, 2)))
    try:
        example = schedule(nodes, order, choose)
    except ValueError:
        return replace(fate, exact=False)
    if sum(one.pod in fate.pods for one in example.pending) < fate.most:
        return replace(fate, exact=False)
    return replace(fate, order=tuple(pod.name for pod in order), example=example)


def _some_wait(nodes: Sequence[Node], sorts: Sequence[Sort], effort: Effort) -> bool | None:
    """Tell whether no assignment has a place for every pod."""
    movable = [sort for sort in sorts if sort.one.node is None]
    totals = tuple(len(sort.pods) for sort in movable)
    options = []
    try:
        for node in nodes:
            at = Occupancy(node)
            for pod in (pod for sort in sorts if sort.one.node == node.name for pod in sort.pods):
                if suits(pod, node) is not None or not takes(at, pod):
                    return True
                at.add(pod)
            found = ways(at, movable, limits(movable, node), effort)
            options.append(undominated(found, [MORE] * len(movable), effort))
        fullest = over_nodes(options, totals, [MORE] * len(movable), effort)
    except TooManyWaysError:
        return None
    if all(one.counts != totals for one in fullest) or _nowhere(nodes, sorts):
        return True
    return None if any(reaches_further(sort, sorts) for sort in sorts) else False


def _nowhere(nodes: Sequence[Node], sorts: Sequence[Sort]) -> bool:
    """Tell whether a pod is meant for a node that is not there."""
    names = {node.name for node in nodes}
    return any(sort.one.node is not None and sort.one.node not in names for sort in sorts)
