"""What a change does to one stack."""

from collections.abc import Iterator
from dataclasses import dataclass

from experiment.plan.plan import ExperimentPlan
from review.difference import Changed
from review.headlines import Headline
from review.step import Step


@dataclass(frozen=True, kw_only=True)
class StackReview:
    """A stack, before and after.

    Attributes:
        name: of the stack.
        before: its plan as it was; none of a stack that was not there, or could not be planned.
        after: its plan as it will be; none of a stack that is removed, or cannot be planned.
        removed: the change deletes its file.
        settings: what changes in its file.
        headlines: what to know first.
        steps: what the engine would do; none if it was not asked, or refused.
        basis: what was compared with what, in words.
        wrong: why nothing may be made of it: what stops its plan, breaks a policy, or was refused by the engine.
    """

    name: str
    before: ExperimentPlan | None
    after: ExperimentPlan | None
    removed: bool
    settings: tuple[Changed, ...]
    headlines: tuple[Headline, ...]
    steps: tuple[Step, ...] | None
    basis: str
    wrong: tuple[str, ...]

    @property
    def quiet(self) -> bool:
        """Nothing of it changes, and nothing is wrong."""
        return not (self.removed or self.wrong or self.headlines or self.settings or self.steps) and _same(self)

    def to_json(self) -> dict[str, object]:
        """Return it for `--json`, plans by what they say of money and whether they go."""
        return {
            "stack": self.name,
            "wrong": list(self.wrong),
            "headlines": [{"name": one.name, "text": one.text} for one in self.headlines],
            "settings": [{"path": one.path, "before": one.before, "after": one.after} for one in self.settings],
            "dollars": {name: {"before": old, "after": new} for name, old, new in dollars(self.before, self.after)},
            "placement_changed": placed(self.before) != placed(self.after),
            "steps": None
            if self.steps is None
            else [
                {
                    "operation": step.operation,
                    "type": step.type,
                    "name": step.name,
                    "changed": list(step.changed),
                    "reasons": list(step.reasons),
                }
                for step in self.steps
            ],
            "basis": self.basis,
        }


def dollars(
    before: ExperimentPlan | None, after: ExperimentPlan | None
) -> Iterator[tuple[str, float | None, float | None]]:
    """Return each sum before and after, in US dollars; None where it is not known."""
    rows = (
        ("an hour", "hour_usd"),
        ("the planned run", "run_usd"),
        ("until the end date, if forgotten", "end_usd"),
        ("a day, if forgotten", "day_usd"),
        ("an hour after the end date", "after_end_hour_usd"),
        ("budget", "budget_usd"),
    )
    moneys = [plan.money if plan else None for plan in (before, after)]
    for name, field in rows:
        old, new = (getattr(money, field) if money else None for money in moneys)
        if old is not None or new is not None:
            yield name, old, new


def placed(plan: ExperimentPlan | None) -> tuple[tuple[object, ...], ...]:
    """Return which pods are on which nodes, by what they are for, and what waits."""
    if plan is None:
        return ()
    rooms = (
        (room.name, room.instance, tuple(sorted(place.owner for place in room.pods))) for room in plan.placement.nodes
    )
    return (*rooms, *((str(one),) for one in plan.placement.waiting))


def _same(review: StackReview) -> bool:
    return placed(review.before) == placed(review.after) and all(
        old == new for _, old, new in dollars(review.before, review.after)
    )
