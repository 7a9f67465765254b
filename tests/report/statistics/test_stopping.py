import math

import numpy as np
import pytest

from report.statistics.design import Design
from report.statistics.intervals import detectable, of_mean
from report.statistics.sizing import turns_needed
from report.statistics.stopping import LOOKS, Ending, decide

pytestmark = pytest.mark.thorough

DESIGN = Design(looks=LOOKS)


@pytest.mark.parametrize(
    ("runs", "found", "ending"),
    [
        (3, [0.01], "go on"),  # no look
        (4, [0.01, 0.11], "go on"),
        (4, [0.01, 0.1], "narrow enough"),
        (4, [], "go on"),
        (5, [0.01], "go on"),
        (8, [0.5], "last look"),
    ],
)
def test_a_campaign_ends_at_a_planned_look(runs: int, found: list[float], ending: Ending) -> None:
    assert decide(runs, found, 0.1, DESIGN) == ending


def test_the_last_default_look_finds_a_tenth_at_two_per_cent_of_scatter() -> None:
    turns = turns_needed(0.02, 0.1, 14, DESIGN)
    assert turns is not None
    assert LOOKS[-2] < turns <= LOOKS[-1]


def test_ending_when_narrow_keeps_the_promise_and_does_end_early() -> None:
    """Narrow intervals tend to be those whose scatter came out small by chance; the shares of the looks hold that."""
    dice, campaigns, spread, wrong, early = np.random.default_rng(11), 600, 0.05, 0, 0
    for _ in range(campaigns):
        values = dice.normal(0, spread * math.sqrt(2), LOOKS[-1])
        for look in LOOKS:
            level = DESIGN.level(look, 1)
            found = of_mean(values[:look].tolist(), level)
            smallest = math.expm1(detectable(found.error, found.freedom, level, 0.9)) if look < LOOKS[-1] else 0.0
            if decide(look, [smallest], 0.15, DESIGN) != "go on":
                wrong += not found.low <= 0 <= found.high
                early += look < LOOKS[-1]
                break
    assert early > campaigns / 20
    assert wrong / campaigns <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / campaigns)
