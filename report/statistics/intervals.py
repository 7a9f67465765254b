"""Studentized intervals for a mean and for the difference of two, of logarithms of positive figures.

Student's t has exactly its level at any number of runs if the logarithms are normal. With skewed runs or runs in modes
it has nearly; how nearly is simulated in tests/report/statistics. A percentile bootstrap is not used: with a few runs
it is too narrow.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import fmean, stdev, variance

from scipy import optimize, stats


@dataclass(frozen=True)
class Estimate:
    """A mean, its standard error, the degrees of freedom of that, and the half of the interval's width."""

    mean: float
    error: float
    freedom: float
    half: float

    @property
    def low(self) -> float:
        """Lower bound."""
        return self.mean - self.half

    @property
    def high(self) -> float:
        """Upper bound."""
        return self.mean + self.half


def of_mean(values: Sequence[float], level: float) -> Estimate:
    """Return Student's interval for the mean of independent values; of paired differences it is the paired one.

    Raises:
        ValueError: there are fewer than two.
    """
    count = len(values)
    if count < 2:
        raise ValueError("an interval takes two values")
    return _student(fmean(values), stdev(values) / math.sqrt(count), count - 1, level)


def of_difference(before: Sequence[float], after: Sequence[float], level: float) -> Estimate:
    """Return Welch's interval for the mean of `after` less that of `before`, of independent values.

    Its degrees of freedom are those of Welch and Satterthwaite, but not more than of the smaller sample: with samples
    this small theirs are a little too many.

    Raises:
        ValueError: there are fewer than two of one.
    """
    fewer = min(len(before), len(after))
    if fewer < 2:
        raise ValueError("an interval takes two values of each")
    parts = [(variance(sample) / len(sample), len(sample) - 1) for sample in (before, after)]
    error = math.sqrt(sum(part for part, _ in parts))
    freedom = float(fewer - 1)
    if error > 0:
        freedom = min(freedom, error**4 / sum(part**2 / own for part, own in parts))
    return _student(fmean(after) - fmean(before), error, freedom, level)


def detectable(error: float, freedom: float, level: float, power: float) -> float:
    """Return the smallest true difference that an interval of that level would have told from zero with that power.

    By the noncentral t distribution; `error` is the standard error, in whose unit the difference is.
    """
    return error * _detectable(freedom, level, power) if error else 0.0


@lru_cache(maxsize=1024)
def _detectable(freedom: float, level: float, power: float) -> float:
    """Return it in standard errors, by which alone it scales; a search that takes milliseconds."""
    bound = _bound(level, freedom)

    def missing(shift: float) -> float:
        return float(stats.nct.sf(bound, freedom, shift)) - power

    most = bound * 4 + 40
    return float(optimize.brentq(missing, 0.0, most)) if missing(most) > 0 else math.inf


def _student(mean: float, error: float, freedom: float, level: float) -> Estimate:
    return Estimate(mean=mean, error=error, freedom=freedom, half=_bound(level, freedom) * error)


@lru_cache(maxsize=1024)
def _bound(level: float, freedom: float) -> float:
    return float(stats.t.isf((1 - level) / 2, freedom))
