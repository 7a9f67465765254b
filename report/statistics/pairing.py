"""Which run of one topology belongs with which of another: those measured next to each other, so that drift cancels."""

from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


def pairs(order: Sequence[tuple[bool, T]]) -> list[tuple[T, T]] | None:
    """Pair runs in the order in which they were measured: first with second, third with fourth, and so on.

    Args:
        order: of each run, whether it is of the second topology, and the run.

    Returns:
        (run of the first topology, run of the second) of each pair; a last run that is left alone is in none. None if
        some two that would be a pair are of the same topology, or one topology came first in every pair of four or
        more runs: then they were not interleaved (A B B A), and drift may look like a difference.
    """
    found: list[tuple[T, T]] = []
    second_first: list[bool] = []
    for (one_is_second, one), (other_is_second, other) in zip(order[::2], order[1::2], strict=False):
        if one_is_second == other_is_second:
            return None
        found.append((other, one) if one_is_second else (one, other))
        second_first.append(one_is_second)
    if len(found) > 1 and len(set(second_first)) == 1:
        return None
    return found or None
