"""The method of a campaign: its error over all comparisons and looks, its power, and the number of runs it takes."""

import math

import numpy as np
import pytest

from experiment.errors import SplitbedError
from report.statistics.design import Design
from report.statistics.intervals import of_mean
from report.statistics.sizing import turns_needed

pytestmark = pytest.mark.thorough

CAMPAIGNS = 400
FAMILY = 14
"""Comparisons of the posts' tests: one-user, five prompt lengths, six numbers of users, interference, follow-up."""


def test_one_look_spends_all() -> None:
    assert Design().spent(5) == 0.05
    assert Design().level(5, 10) == pytest.approx(0.995)
    assert Design().level(5, 0) == 0.95


def test_looks_share_the_error_and_the_last_has_most() -> None:
    design = Design(looks=(4, 6, 8))
    spent = [design.spent(look) for look in (4, 6, 8)]
    assert sum(spent) == pytest.approx(0.05)
    assert spent == pytest.approx([0.05 / 6, 0.1 / 6, 0.15 / 6])


def test_a_stop_between_two_looks_takes_the_place_of_the_later() -> None:
    design = Design(looks=(4, 6, 8))
    assert design.spent(3) == design.spent(4)
    assert design.spent(5) == design.spent(6)


def test_more_runs_than_were_planned_are_refused() -> None:
    with pytest.raises(SplitbedError, match=r"9 runs .* after 8.*--looks"):
        Design(looks=(4, 8)).spent(9)


def campaign(dice: np.random.Generator, design: Design, true: float, spread: float) -> tuple[bool, bool]:
    """Interleave pairs until every interval is narrow, or until the first word, whichever does more harm.

    Return whether any of the comparisons without a difference was given a word, and whether the one with it was.
    """
    last = max(design.looks)
    scatter = dice.normal(0, spread * math.sqrt(2), (FAMILY, last)) + dice.normal(0, spread / 2, last)
    scatter[0] += true
    for look in design.looks:
        level = design.level(look, FAMILY)
        found = [of_mean(row[:look].tolist(), level) for row in scatter]
        words = [not one.low <= 0 <= one.high for one in found]
        if any(words) or look == last:
            return any(words[1:]), words[0]
    raise AssertionError("the last look ends it")


def test_a_wrong_word_in_at_most_five_campaigns_of_a_hundred_whatever_stops_them() -> None:
    dice, design = np.random.default_rng(8), Design(looks=(4, 6, 8))
    wrong = sum(any(campaign(dice, design, 0.0, 0.02)) for _ in range(CAMPAIGNS))
    assert wrong / CAMPAIGNS <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / CAMPAIGNS)
    assert wrong > 0  # the simulation can find one


def test_without_the_family_and_the_looks_that_promise_is_broken() -> None:
    dice, naive = np.random.default_rng(8), Design(looks=(4, 6, 8), alpha=0.05 * 6 * FAMILY / 3)
    wrong = sum(any(campaign(dice, naive, 0.0, 0.02)) for _ in range(100))
    assert wrong > 30


def test_a_true_tenth_is_found_at_the_number_of_turns_that_follows() -> None:
    spread = 0.02
    turns = turns_needed(spread, 0.1, FAMILY)
    assert turns == 6
    dice, level = np.random.default_rng(9), Design().level(turns, FAMILY)
    shifts = dice.normal(math.log(1.1), spread * math.sqrt(2), (2000, turns))
    found = sum(of_mean(row.tolist(), level).low > 0 for row in shifts)
    assert found / 2000 >= 0.9 - 3 * math.sqrt(0.9 * 0.1 / 2000)


def test_more_scatter_takes_more_turns_and_too_much_takes_more_than_there_are() -> None:
    assert turns_needed(0.01, 0.1, 1) == 3
    assert turns_needed(0.05, 0.1, FAMILY) == 14
    assert turns_needed(0.5, 0.1, FAMILY) is None
    assert turns_needed(0.05, 0.1, FAMILY, Design(looks=(4, 6, 8))) is None
