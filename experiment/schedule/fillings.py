"""The ways to fill nodes with pods of several sorts, one node after the other."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from experiment.schedule.filters import has_room
from experiment.schedule.objects import Pod
from experiment.schedule.occupancy import Occupancy
from experiment.schedule.sorts import Sort, clash

FEWER, EITHER, MORE = -1, 0, 1
Counts = tuple[int, ...]
"""How many pods of each sort."""


class TooManyWaysError(Exception):
    """The search was given up; nothing is known."""


@dataclass
class Effort:
    """How many steps a search may still take."""

    steps: int

    def spend(self, steps: int = 1) -> None:
        """Count steps; raises `TooManyWaysError` when there are none left."""
        if steps > self.steps:
            raise TooManyWaysError
        self.steps -= steps


def takes(at: Occupancy, pod: Pod) -> bool:
    """Tell whether a pod that suits the node may come beside those that are there."""
    return has_room(pod, at) and not any(clash(pod, other, at.node) for other in at.pods)


def ways(
    at: Occupancy,
    sorts: Sequence[Sort],
    limits: Counts,
    effort: Effort,
    enough: Callable[[int], bool] = lambda _: False,
) -> Iterator[Counts]:
    """Yield how many pods of each sort a node can take together; while one is yielded, they are on the node.

    Args:
        at: the node with what is there already.
        sorts: pods that may come.
        limits: how many of each at most.
        effort: is spent step by step.
        enough: is asked with the number of sorts decided on; if it is true no more pods are added.
    """

    def decide(chosen: Counts) -> Iterator[Counts]:
        effort.spend()
        index = len(chosen)
        if index == len(sorts) or enough(index):
            yield chosen + (0,) * (len(sorts) - index)
            return
        yield from decide((*chosen, 0))
        added = 0
        while added < limits[index] and takes(at, sorts[index].one):
            at.add(sorts[index].one)
            added += 1
            yield from decide((*chosen, added))
        for _ in range(added):
            at.remove_last()

    return decide(())


@dataclass(frozen=True)
class Filled:
    """Pods on the nodes seen so far.

    Attributes:
        counts: of every sort, over all nodes seen.
        here: of every sort, on the last of them.
        before: the nodes before that; None before the first.
    """

    counts: Counts
    here: Counts = ()
    before: "Filled | None" = None

    def per_node(self) -> list[Counts]:
        """Return the counts on each node, in order."""
        found = []
        step = self
        while step.before is not None:
            found.append(step.here)
            step = step.before
        return found[::-1]


def over_nodes(
    options: Iterable[Sequence[Counts]], limits: Counts, wish: Sequence[int], effort: Effort
) -> list[Filled]:
    """Return the ways to fill all nodes, without those that another is no worse than in any sort.

    Args:
        options: the ways to fill each node.
        limits: how many pods there are of each sort.
        wish: of each sort whether `MORE` or `FEWER` are better, or `EITHER`. Where more are, a node may be given more
            than there are: it can do with less.
        effort: is spent step by step.
    """
    found = [Filled((0,) * len(limits))]
    for node in options:
        following: dict[Counts, Filled] = {}
        for before in found:
            effort.spend(len(node))
            for here in node:
                counts = tuple(
                    min(one + more, limit) if direction == MORE else one + more
                    for one, more, limit, direction in zip(before.counts, here, limits, wish, strict=True)
                )
                if all(count <= limit for count, limit in zip(counts, limits, strict=True)):
                    following.setdefault(counts, Filled(counts, here, before))
        found = [following[counts] for counts in undominated(following, wish, effort)]
    return found


def undominated(counts: Iterable[Counts], wish: Sequence[int], effort: Effort) -> list[Counts]:
    """Return those than which no other is better in one sort and no worse in any; see `over_nodes`."""
    kept: list[Counts] = []
    # The better ones first: then a later one never beats an earlier one.
    for one in sorted(set(counts), key=lambda one: [-sum(w * n for w, n in zip(wish, one, strict=True)), *one]):
        effort.spend(len(kept) + 1)
        if not any(_no_worse(other, one, wish) for other in kept):
            kept.append(one)
    return kept


def _no_worse(one: Counts, other: Counts, wish: Sequence[int]) -> bool:
    return all(
        mine == others if not direction else direction * mine >= direction * others
        for mine, others, direction in zip(one, other, wish, strict=True)
    )
