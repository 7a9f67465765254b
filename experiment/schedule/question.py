"""One sort of pods, and what the others can leave to it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from experiment.schedule.fillings import (
    EITHER,
    FEWER,
    MORE,
    Counts,
    Effort,
    Filled,
    TooManyWaysError,
    over_nodes,
    takes,
    undominated,
    ways,
)
from experiment.schedule.filters import suits
from experiment.schedule.objects import Node
from experiment.schedule.occupancy import Occupancy
from experiment.schedule.sorts import Sort, node_shape, reaches_further


@dataclass(frozen=True, kw_only=True)
class Blockade:
    """Pods that bar every node to the sort that is asked about.

    Attributes:
        left: how many pods of that sort find no node then.
        by: which pods lie where: sort, how many, node.
    """

    left: int
    by: tuple[tuple[Sort, int, Node], ...]


class Question:
    """What can be in the way of one sort: pods of its own priority, and of higher ones.

    Those of higher priority are taken to be all there, on whichever nodes, if it is `certain` that they find room in
    every order; else they may be anywhere or nowhere.
    """

    def __init__(self, nodes: Sequence[Node], sorts: Sequence[Sort], asked: Sort, *, certain: bool) -> None:
        def comes_first(sort: Sort) -> bool:
            return certain and sort.one.priority > asked.one.priority

        rivals = [sort for sort in sorts if sort.one.priority >= asked.one.priority]
        movable = [sort for sort in rivals if sort.one.node is None or sort is asked]
        daemons = [sort for sort in rivals if sort.one.node is not None and sort is not asked]
        self._nodes, self._asked = nodes, asked
        self._forced = [sort for sort in movable if comes_first(sort)]
        self._free = [sort for sort in movable if not comes_first(sort)]
        self._there: dict[str, list[Sort]] = {}
        self._local: dict[str, list[Sort]] = {}
        for sort in daemons:
            places = self._there if comes_first(sort) else self._local
            places.setdefault(sort.one.node or "", []).append(sort)
        self.unclear = reaches_further(asked, rivals)
        """Whether pods on one node can bar others to them, which is not looked into."""
        self.exact = certain and not any(reaches_further(sort, rivals) for sort in rivals)

    def room(self, effort: Effort) -> int:
        """Return how many of the pods find a node if they come before all others of their priority.

        Raises:
            TooManyWaysError: it was not found out.
        """
        sorts = [*self._forced, self._asked]
        wish = [EITHER] * len(self._forced) + [MORE]
        options = []
        for node in self._nodes_that_matter():
            found = ways(self._at(node), sorts, limits(sorts, node), effort)
            options.append(undominated(found, wish, effort))
        complete = self._complete(options, sorts, wish, effort)
        if not complete:
            raise TooManyWaysError
        return max(one.counts[-1] for one in complete)

    def blockade(self, effort: Effort) -> Blockade | None:
        """Return what leaves most of the pods without a node; None if nothing does.

        Raises:
            TooManyWaysError: it was not found out.
        """
        sorts = [*self._forced, *self._free]
        wish = [EITHER] * len(self._forced) + [FEWER] * len(self._free)
        nodes = self._nodes_that_matter()
        known: dict[object, dict[Counts, Counts]] = {}
        options = []
        for node in nodes:
            here = [*sorts, *self._local.get(node.name, [])]
            key = (
                node_shape(node),
                limits([*here, self._asked], node),
                tuple(sort.shape for sort in here[len(sorts) :]),
                tuple(sort.shape for sort in self._there.get(node.name, [])),
            )
            if key not in known:
                barred = dict(self._ways_to_bar(node, here, len(sorts), effort))
                known[key] = {counts: barred[counts] for counts in undominated(barred, wish, effort)}
            if not known[key]:
                return None
            options.append(known[key])
        complete = self._complete([list(one) for one in options], sorts, wish, effort)
        asked = sorts.index(self._asked)
        best = min(complete, key=lambda one: one.counts[asked], default=None)
        if best is None or best.counts[asked] >= len(self._asked.pods):
            return None
        by = []
        for node, counts, barred in zip(nodes, best.per_node(), options, strict=True):
            here = [*sorts, *self._local.get(node.name, [])]
            by += [(sort, number, node) for sort, number in zip(here, counts + barred[counts], strict=True) if number]
        return Blockade(left=len(self._asked.pods) - best.counts[asked], by=tuple(by))

    def _nodes_that_matter(self) -> list[Node]:
        """Return those that would take the pods, and all if others must find a node first."""
        return [node for node in self._nodes if self._forced or suits(self._asked.one, node) is None]

    def _at(self, node: Node) -> Occupancy:
        """Return the node with the daemons that come first."""
        at = Occupancy(node)
        for sort in self._there.get(node.name, []):
            for pod in sort.pods:
                at.add(pod)
        return at

    def _ways_to_bar(
        self, node: Node, here: Sequence[Sort], shared: int, effort: Effort
    ) -> Iterator[tuple[Counts, Counts]]:
        """Yield counts of the sorts that all nodes share, and of the node's own, that bar the node to the pods."""
        at = self._at(node)
        suited = suits(self._asked.one, node) is None

        def barred(decided: int) -> bool:
            return decided >= len(self._forced) and not (suited and takes(at, self._asked.one))

        for counts in ways(at, here, limits(here, node), effort, barred):
            if barred(len(here)):
                yield counts[:shared], counts[shared:]

    def _complete(
        self, options: Sequence[Sequence[Counts]], sorts: Sequence[Sort], wish: Sequence[int], effort: Effort
    ) -> list[Filled]:
        """Return the ways to fill the nodes in which all pods are there that must be."""
        totals = tuple(len(sort.pods) for sort in sorts)
        forced = len(self._forced)
        return [one for one in over_nodes(options, totals, wish, effort) if one.counts[:forced] == totals[:forced]]


def limits(sorts: Sequence[Sort], node: Node) -> Counts:
    """Return how many pods of each sort a node may get, whatever its size."""
    return tuple(len(sort.pods) if suits(sort.one, node) is None else 0 for sort in sorts)
