"""What may stay Pending when nobody knows in which order the pods come, nor which node the scheduler takes."""

from collections.abc import Sequence
from dataclasses import dataclass

from experiment.schedule.objects import Node, Pod
from experiment.schedule.outcome import Assignment, Pending


@dataclass(frozen=True, kw_only=True)
class Fate:
    """What can become of equal pods of one owner.

    Attributes:
        owner: what they are for.
        pods: their names.
        least: how many of them stay Pending in the best case; above 0, some do in every order.
        most: how many of them some order can leave Pending; 0 means none in any order.
        order: names of all pods in an order that leaves `most` of them Pending, if there is one.
        example: where that order leaves every pod.
        exact: whether `least` and `most` are reached; if not, `least` may be higher and `most` lower.
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
        expected: where they land when they come in the given order and the first of equal nodes is taken.
        fates: for every sort of pods, in the order in which they were given.
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
    def pending(self) -> tuple[Pending, ...]:
        """What stays Pending in the expected case."""
        return self.expected.pending


def foretell(nodes: Sequence[Node], pods: Sequence[Pod]) -> Forecast:
    """Return what stays Pending in every order, in some order, and in none."""
    raise NotImplementedError
