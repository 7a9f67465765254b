"""How much error a campaign may make, and how it is shared out."""

from dataclasses import dataclass

from experiment.errors import SplitbedError

LEAST_RUNS = 3
"""Of each topology; below, data are described and not judged."""


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
