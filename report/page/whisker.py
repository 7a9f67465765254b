"""A change and its interval as a small picture within a table's cell; the cell says the same in words."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import log1p

from report.verdict.comparison import Comparison, Difference

WIDTH, HEIGHT = 132, 18
_LEAST, _MOST = 0.1, 2.0
"""Of the scale's half, in logarithms of ratios: no change fills it that is small, and none makes others vanish."""


@dataclass(frozen=True)
class Whisker:
    """Positions in CSS pixels from the left; `zero` is that of no change."""

    zero: float
    at: float
    low: float | None
    high: float | None


def half_scale(comparisons: Iterable[Comparison]) -> float:
    """Return how far the scale of all these reaches on each side."""
    sizes = [abs(log1p(max(one.difference.change, -0.99))) for one in comparisons if one.difference is not None]
    return min(_MOST, max([_LEAST, *(1.35 * size for size in sizes)]))


def whisker(difference: Difference, half: float) -> Whisker:
    """Return where change and interval stand; what reaches beyond the scale ends at its edge."""

    def place(change: float) -> float:
        share = max(-1.0, min(1.0, log1p(max(change, -0.99)) / half))
        return round(WIDTH / 2 + share * (WIDTH / 2 - 5), 1)

    ends = (None, None) if difference.low is None or difference.high is None else (difference.low, difference.high)
    return Whisker(place(0.0), place(difference.change), *(None if end is None else place(end) for end in ends))
