"""A short run of `make calibrate`, held to what docs/method.md promises."""

import math

import pytest

from report.statistics.stopping import LOOKS
from tests.bench.calibration import CELLS, Truth, first_word, narrow, simulate, with_difference

pytestmark = pytest.mark.thorough

CAMPAIGNS = 120


def above(share: float) -> float:
    """Three standard errors above a share."""
    return share + 3 * math.sqrt(share * (1 - share) / CAMPAIGNS)


def test_wrong_words_are_as_rare_as_promised_also_for_who_stops_at_the_first() -> None:
    for seed, stop in enumerate((narrow, first_word)):
        assert simulate(Truth(), CAMPAIGNS, seed, stop).wrong / CAMPAIGNS <= above(0.05)


def test_a_true_tenth_is_found_at_the_default_number_of_runs() -> None:
    found = simulate(with_difference(0), CAMPAIGNS, 4)
    assert found.found / CAMPAIGNS >= 0.9 - 3 * math.sqrt(0.9 * 0.1 / CAMPAIGNS)
    assert found.runs <= LOOKS[-1]


def test_the_simulation_can_find_a_wrong_word_and_miss_a_difference() -> None:
    """Where a whole run is in one mode, a tenth is not found; and a difference that is there is no wrong word."""
    assert simulate(with_difference(CELLS - 1), 30, 1).found < 10
    everything = Truth(scatter=0.001, common=0.0, drift=0.0, late=0.0, differences=(0.1,) * CELLS)
    found = simulate(everything, 10, 2)
    assert (found.wrong, found.found) == (0, 10)


def test_the_same_seed_gives_the_same_figures() -> None:
    assert simulate(Truth(), 5, 7) == simulate(Truth(), 5, 7)
