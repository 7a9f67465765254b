"""How many runs it takes to find a difference.

Apart from the design, which a campaign knows without scipy.
"""

from math import log1p, sqrt

from report.statistics.design import LEAST_RUNS, Design
from report.statistics.intervals import detectable

MOST_TURNS = 64


def turns_needed(spread: float, difference: float, family: int, design: Design | None = None) -> int | None:
    """Return how many interleaved pairs of runs find a true difference with the design's power; None above 64.

    Args:
        spread: standard deviation of a run's logarithm about its topology's mean; that of a pair is sqrt(2) of it.
        difference: the true one, as a share: 0.1 for 10 %.
        family: comparisons in the campaign.
        design: the method; its looks are those planned, and the last possible one counts.
    """
    design = design or Design()
    last = max(design.looks, default=MOST_TURNS)
    for turns in range(LEAST_RUNS, last + 1):
        error = spread * sqrt(2 / turns)
        if detectable(error, turns - 1, design.level(turns, family), design.power) <= log1p(difference):
            return turns
    return None
