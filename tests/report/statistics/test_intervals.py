"""Intervals against tables, against themselves, and against simulated truth."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from report.statistics.intervals import detectable, of_difference, of_mean

pytestmark = pytest.mark.thorough

Draw = Callable[[np.random.Generator, int], NDArray[np.float64]]

CAMPAIGNS = 2000
ERROR = 3 * math.sqrt(0.05 * 0.95 / CAMPAIGNS)
"""Three standard errors of a share of 5 % in so many campaigns."""


def test_the_interval_of_a_mean_is_students() -> None:
    # Student's own sleep data (Biometrika 6, 1908): ten differences, mean 1.58, t of 9 at 95 % is 2.262.
    sleep = [1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4]
    found = of_mean(sleep, 0.95)
    assert found.mean == pytest.approx(1.58)
    assert found.error == pytest.approx(1.22995 / math.sqrt(10), rel=1e-4)
    assert (found.low, found.high) == pytest.approx((0.7001, 2.4599), abs=1e-3)


def test_welchs_freedom_is_never_above_the_smaller_samples() -> None:
    equal = of_difference([1.0, 2.0, 3.0], [2.0, 3.0, 4.0], 0.95)
    assert equal.mean == 1.0
    assert equal.freedom == 2
    unlike = of_difference([1.0, 2.0, 3.0], [5.0, 5.001, 5.002, 5.0005], 0.95)
    assert 1.99 < unlike.freedom <= 2


def test_one_value_has_no_interval() -> None:
    with pytest.raises(ValueError, match="two"):
        of_mean([1.0], 0.95)
    with pytest.raises(ValueError, match="two"):
        of_difference([1.0], [1.0, 2.0], 0.95)


def normal(dice: np.random.Generator, count: int) -> NDArray[np.float64]:
    return dice.normal(0, 0.03, count)


def skewed(dice: np.random.Generator, count: int) -> NDArray[np.float64]:
    """Runs that are now and then slower: exponential delays of a tenth upon a normal scatter."""
    return np.log1p(dice.exponential(0.05, count)) + dice.normal(0, 0.01, count)


def in_modes(dice: np.random.Generator, count: int) -> NDArray[np.float64]:
    """The 1B post's split: half of the runs at 65 ms a token, half at 160."""
    return np.where(dice.random(count) < 0.5, math.log(65), math.log(160)) + dice.normal(0, 0.02, count)


@pytest.mark.parametrize("runs", [3, 5, 8])
@pytest.mark.parametrize("draw", [normal, skewed, in_modes])
def test_paired_runs_of_one_kind_are_told_apart_in_five_campaigns_of_a_hundred_at_most(runs: int, draw: Draw) -> None:
    dice = np.random.default_rng(runs)
    wrong = 0
    for _ in range(CAMPAIGNS):
        drift = np.linspace(0, 0.1, runs)  # cancels in pairs
        found = of_mean(((draw(dice, runs) + drift) - (draw(dice, runs) + drift)).tolist(), 0.95)
        wrong += not found.low <= 0 <= found.high
    assert wrong / CAMPAIGNS <= 0.05 + ERROR
    if draw is normal:
        assert wrong / CAMPAIGNS >= 0.05 - ERROR


@pytest.mark.parametrize("runs", [3, 5, 8])
@pytest.mark.parametrize("draw", [normal, skewed])
def test_runs_that_are_not_paired_are_not_told_apart_more_often(runs: int, draw: Draw) -> None:
    dice = np.random.default_rng(100 + runs)
    wrong = 0
    for _ in range(CAMPAIGNS):
        found = of_difference(draw(dice, runs).tolist(), draw(dice, runs).tolist(), 0.95)
        wrong += not found.low <= 0 <= found.high
    assert wrong / CAMPAIGNS <= 0.05 + ERROR


def test_what_could_have_been_shown_is_shown_so_often() -> None:
    dice, runs, spread = np.random.default_rng(7), 5, 0.02
    error = spread / math.sqrt(runs)
    smallest = detectable(error, runs - 1, 0.95, 0.9)
    found = sum(of_mean(dice.normal(smallest, spread, runs).tolist(), 0.95).low > 0 for _ in range(CAMPAIGNS))
    assert found / CAMPAIGNS == pytest.approx(0.9, abs=3 * math.sqrt(0.9 * 0.1 / CAMPAIGNS))


def test_without_scatter_any_difference_could_have_been_shown() -> None:
    assert detectable(0, 2, 0.95, 0.9) == 0
