"""A test for more than one mode, and where they part.

The statistic is Hartigan and Hartigan's dip (The Annals of Statistics 13, 1985) without the condition that the two
halves of the fitted distribution join: the least distance from the sample's distribution to one that is convex up to
some value and concave from there on. Its distribution is taken where it is worst among unimodal ones, at the uniform.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

_SIZES = (8, 10, 12, 16, 20, 24, 32, 48, 64)
_DRAWS = 999
LEAST = _SIZES[0]


@dataclass(frozen=True)
class Split:
    """Whether values fall into two modes: probability of such a sample from one mode, and the value that parts them."""

    p: float
    parts_at: float
    used: int


def two_modes(values: Sequence[float]) -> Split | None:
    """Test values for a second mode; None below eight, where nothing could be told.

    Neighbours of a series may depend on each other as an engine's gaps do, but values must not come in blocks: where
    each run scatters about a level of its own, give one value a run. Of many values as many are used as the largest
    size has for which the distribution is known, at even ranks.
    """
    if len(values) < LEAST:
        return None
    ordered = np.sort(np.asarray(values, dtype=np.float64))
    size = max(size for size in _SIZES if size <= ordered.size)
    sample = ordered[np.linspace(0, ordered.size - 1, size).round().astype(int)]
    known = _null(size)
    beyond = int(np.sum(known >= dip(sample) - 1e-12))
    return Split(p=(1 + beyond) / (1 + known.size), parts_at=parting(sample), used=size)


def parting(ordered: NDArray[np.float64]) -> float:
    """Return the value between two neighbours that leaves the least variance within both parts (Otsu's)."""
    count = ordered.size
    left = np.arange(1, count)
    sums = np.cumsum(ordered)
    between = (sums[:-1] / left - (sums[-1] - sums[:-1]) / (count - left)) ** 2 * left * (count - left)
    cut = int(np.argmax(between))
    return float((ordered[cut] + ordered[cut + 1]) / 2)


def dip(ordered: NDArray[np.float64]) -> float:
    """Return the statistic of an ordered sample, as a share of it."""
    mirrored = -ordered[::-1]
    low, high = 0, ordered.size - 1
    # The fit from the left gets worse with every value it takes in, that from the right better.
    while high - low > 1:
        middle = (low + high) // 2
        if _convex(ordered, middle) < _convex(mirrored, ordered.size - 1 - middle):
            low = middle
        else:
            high = middle
    return min(max(_convex(ordered, at), _convex(mirrored, ordered.size - 1 - at)) for at in (low, high))


def _convex(ordered: NDArray[np.float64], last: int) -> float:
    """Return half the greatest height of the distribution, up to a value, over its greatest convex minorant."""
    count = ordered.size
    xs = ordered[: last + 1].tolist()
    hull: list[int] = []
    for at, x in enumerate(xs):
        # The minorant lies under the steps' lower corners: (x, at / count).
        if hull and xs[hull[-1]] == x:
            continue
        while len(hull) > 1:
            first, second = hull[-2], hull[-1]
            if (second - first) * (x - xs[first]) < (at - first) * (xs[second] - xs[first]):
                break
            hull.pop()
        hull.append(at)
    below = np.interp(xs, [xs[at] for at in hull], hull)
    above = np.searchsorted(ordered[: last + 1], xs, side="right")
    return float(np.max(above - below)) / (2 * count)


@lru_cache(maxsize=len(_SIZES))
def _null(size: int) -> NDArray[np.float64]:
    dice = np.random.default_rng(size)
    return np.array([dip(np.sort(dice.uniform(size=size))) for _ in range(_DRAWS)])
