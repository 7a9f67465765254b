"""How long turns take: as those before them did, else as the plan expects."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Literal

from campaign.journal import Measured
from campaign.order import Turn
from experiment.plan.plan import ExperimentPlan

Basis = Literal["measured", "planned", "at most"]


@dataclass(frozen=True)
class Expected:
    """Seconds, and on what they stand."""

    seconds: float
    basis: Basis


@dataclass(frozen=True)
class Forecast:
    """What is expected of a turn of each topology before any was measured; None if it cannot be told.

    Attributes:
        planned: of each topology.
        ground_s: what the machines take once, if they are not there yet.
    """

    planned: Sequence[Expected]
    ground_s: float = 0.0

    def of(self, turns: Sequence[Turn], order: Sequence[Turn], measured: Mapping[int, Measured]) -> Expected:
        """Return what turns take together.

        Args:
            turns: those that are to come.
            order: all of the campaign's, by which those that were measured are known.
            measured: by their number.
        """
        parts = [self._one(turn, order, measured) for turn in turns]
        worst: Basis = "measured"
        for basis in ("planned", "at most"):
            if any(part.basis == basis for part in parts):
                worst = basis
        return Expected(sum(part.seconds for part in parts), worst)

    def _one(self, turn: Turn, order: Sequence[Turn], measured: Mapping[int, Measured]) -> Expected:
        seen = [
            found.seconds
            for one in order
            if one.topology == turn.topology and (found := measured.get(one.number)) and found.seconds is not None
        ]
        return Expected(median(seen), "measured") if seen else self.planned[turn.topology]


def planned(plan: ExperimentPlan, longest_s: float) -> Expected:
    """Return what a turn takes by the plan of its topology: a new deployment on machines that are there, and its tests.

    Args:
        plan: of the stack with that topology.
        longest_s: after which its benchmark is over in any case, waiting for the server included.
    """
    lasts = plan.duration
    if lasts.restart_s is None or lasts.benchmark_s is None:
        return Expected((lasts.restart_s or 0.0) + longest_s, "at most")
    return Expected(lasts.restart_s + lasts.benchmark_s, "planned")


def ground_s(plan: ExperimentPlan) -> float:
    """Return what comes before the engine's pods, once."""
    return sum(step.seconds for step in plan.duration.steps if step.name in ("cluster", "nodes"))
