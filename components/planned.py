"""The plan of a stack where a person sees it: lines of the preview, and an output; what it refuses is not made."""

from datetime import datetime

import pulumi

from experiment.errors import SplitbedError
from experiment.plan import words
from experiment.plan.plan import ExperimentPlan, make
from experiment.settings import Settings


class PlanRefusedError(SplitbedError):
    """The plan tells beforehand that this cannot work, or is a mistake that the stack file does not accept."""


def checked(settings: Settings, now: datetime) -> ExperimentPlan:
    """Return the plan of a stack, and tell it.

    Raises:
        PlanRefusedError: `up` would make something that cannot work, or is not meant.
    """
    plan = make(settings, now)
    if not plan.goes:
        stops = "\n".join(f"  {reason}" for reason in plan.stops)
        raise PlanRefusedError(f"The plan of {settings.name} stops here:\n{stops}", "Nothing was made.")
    for line in words.lines(plan):
        pulumi.info(line)
    return plan


def output(plan: ExperimentPlan) -> dict[str, pulumi.Input[object]]:
    """Return the plan in short, and nothing that another hour changes: a preview of no change shows none."""
    return {
        "verdict": words.verdict(plan),
        "figures": dict(words.figures(plan)),
        "advice": [one.name for one in plan.advice],
        "not_known": list(plan.unknown),
    }
