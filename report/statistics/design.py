"""How much error a campaign may make, how it is shared out, and how many runs that takes."""

from dataclasses import dataclass
from math import log1p, sqrt

from experiment.errors import SplitbedError
from report.statistics.intervals import detectable

LEAST_RUNS = 3
"""Of each topology; below, data are described and not judged."""
MOST_TURNS = 64


@dataclass(frozen=True)
class Design:
    """The method of a campaign, fixed before its first run.

    A wrong word anywhere in the campaign, at whatever look it stops, comes with a probability of at most `alpha`: that
    is shared out over the looks, in proportion to their number so that the last has most of it, and each look's share
    equally over the comparisons (Bonferroni; the union bound holds whatever depends on what, and whatever makes the
    campaign stop: the width of an interval, its budget, or a person).

    Attributes:
        alpha: probability of one wrong word or more.
        looks: numbers of runs of each topology after which it may stop; empty if the number was fixed beforehand.
        power: probability with which a difference is to be found.
    """

    alpha: float = 0.05
    looks: tuple[int, ...] = ()
    power: float = 0.9

    def spent(self, runs: int) -> float:
        """Return the share of alpha of a judgement after so many runs of each topology.

        One that stops between two looks takes the place of the later one.

        Raises:
            SplitbedError: there are more runs than at the last look.
        """
        if not self.looks:
            return self.alpha
        looks = sorted(set(self.looks))
        for number, look in enumerate(looks, start=1):
            if runs <= look:
                return self.alpha * number / (len(looks) * (len(looks) + 1) / 2)
        raise SplitbedError(
            f"There are {runs} runs of each topology, and the last planned look was after {looks[-1]}.",
            "Leave out the later runs, or name the looks that were really planned: --looks.",
        )

    def level(self, runs: int, family: int) -> float:
        """Return the level of each interval, so that all of a family of so many hold together."""
        return 1 - self.spent(runs) / max(1, family)


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
