"""How far a campaign is, in numbers and in a sentence."""

from dataclasses import dataclass
from datetime import datetime

from campaign.forecast import Expected
from campaign.limits import minutes


@dataclass(frozen=True, kw_only=True)
class Status:
    """At a turn.

    Attributes:
        turn: its number.
        done: turns that are measured.
        of: turns up to the last look.
        label: the topology in words.
        run: its run id.
        left: what all turns that are left take if no look ends it before.
        spent_usd: so far; None where nothing is paid for.
        left_usd: what those turns cost.
        budget_usd: the limit.
        end: the end date.
        now: the moment.
    """

    turn: int
    done: int
    of: int
    label: str
    run: str
    left: Expected
    spent_usd: float | None
    left_usd: float | None
    budget_usd: float | None
    end: datetime | None
    now: datetime


def about(status: Status) -> str:
    """Return one line: who is measured, what is left of time and money."""
    bound = "at most " if status.left.basis == "at most" else "about "
    parts = [
        f"turn {status.turn} of at most {status.of}: {status.label}, run {status.run}",
        f"to the last look {bound}{minutes(status.left.seconds)} ({_basis(status.left)})",
    ]
    if status.spent_usd is not None and status.left_usd is not None:
        of = f" of {status.budget_usd:.2f}" if status.budget_usd is not None else ""
        parts.append(f"{status.spent_usd:.2f}{of} USD spent, {bound}{status.left_usd:.2f} more")
    if status.end is not None:
        parts.append(f"{minutes((status.end - status.now).total_seconds())} to the end date")
    return "; ".join(parts)


def _basis(expected: Expected) -> str:
    return {"measured": "as measured", "planned": "as planned", "at most": "by the plan's own limits"}[expected.basis]
