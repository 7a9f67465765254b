"""A plan for a comment on a pull request."""

from experiment.plan import words
from experiment.plan.plan import ExperimentPlan


def as_markdown(plan: ExperimentPlan) -> str:
    """Return the plan as Markdown, what decides first."""
    return f"## {plan.subject.name}: {words.verdict(plan)}\n"
