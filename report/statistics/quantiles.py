"""Percentiles with their intervals."""

from collections.abc import Iterable
from dataclasses import dataclass

from scipy import stats

from experiment.measure.part import percentile


@dataclass(frozen=True)
class Percentile:
    """A percentile by the nearest rank, and the two values of the sample between which the true one lies.

    A bound is None where the sample has no value far enough out: the 99th percentile of 50 values has no upper bound.
    """

    percent: float
    value: float
    low: float | None
    high: float | None
    level: float
    count: int


def percentile_of(values: Iterable[float], percent: float, level: float = 0.95) -> Percentile | None:
    """Return a percentile and its interval by order statistics, exact for any distribution; None without values.

    How many values lie below the true percentile is binomial; each bound errs with half of `1 - level` at most. The
    values must be independent: replies to single requests, say. Tokens of one stream are not.
    """
    ordered = sorted(values)
    count = len(ordered)
    if not count:
        return None
    share = percent / 100
    tail = (1 - level) / 2
    below = int(stats.binom.ppf(tail, count, share))
    # The lower bound is the largest rank r with P(fewer than r values below) <= tail.
    rank = below if stats.binom.cdf(below - 1, count, share) <= tail else below - 1
    above = int(stats.binom.isf(tail, count, share)) + 1
    return Percentile(
        percent=percent,
        value=percentile(ordered, percent),
        low=ordered[rank - 1] if rank >= 1 else None,
        high=ordered[above - 1] if above <= count else None,
        level=level,
        count=count,
    )
