"""What a campaign may still spend: money and time."""

from dataclasses import dataclass
from datetime import datetime, timedelta

ENDING_S = 900.0
"""What is kept back for the end: a destroy takes about as long as a cluster's start. Assumed, not measured."""


@dataclass(frozen=True)
class Limits:
    """Prices and bounds.

    Attributes:
        begun_at: since when money counts; what the stack cost before is not the campaign's.
        hour_usd: what all nodes cost by the hour, served or not; None where nothing is paid for.
        turn_usd: what a turn uses up besides, such as transfer of weights.
        budget_usd: what the campaign may cost in all; None without limit.
        end: when AWS takes the nodes away, or what else was planned as the end; None without one.
    """

    begun_at: datetime
    hour_usd: float | None = None
    turn_usd: float = 0.0
    budget_usd: float | None = None
    end: datetime | None = None

    def spent_usd(self, now: datetime, turns: int) -> float | None:
        """Return what it has cost after so many turns; nodes cost while nobody looks, too."""
        if self.hour_usd is None:
            return None
        return self.hour_usd * (now - self.begun_at).total_seconds() / 3600 + self.turn_usd * turns

    def cost_usd(self, seconds: float, turns: int) -> float | None:
        """Return what so many seconds and turns cost."""
        return None if self.hour_usd is None else self.hour_usd * seconds / 3600 + self.turn_usd * turns

    def refusal(self, now: datetime, needed_s: float, done: int, turns: int) -> str | None:
        """Say why turns are not begun any more; None if they may.

        Args:
            now: the moment.
            needed_s: what they are expected to take.
            done: turns so far.
            turns: how many they are.
        """
        whole_s = needed_s + ENDING_S
        if self.end is not None and now + timedelta(seconds=whole_s) > self.end:
            left = (self.end - now).total_seconds()
            return (
                f"the end date is near: {self.end:%Y-%m-%d %H:%M %Z} is {minutes(left)} away, and the next "
                f"{counted(turns)} would take {minutes(needed_s)}, with {minutes(ENDING_S)} kept back for the end"
            )
        spent, more = self.spent_usd(now, done), self.cost_usd(whole_s, turns)
        if self.budget_usd is not None and spent is not None and more is not None and spent + more > self.budget_usd:
            return (
                f"the budget is near: {spent:.2f} of {self.budget_usd:.2f} USD are spent, and the next "
                f"{counted(turns)} would take {more:.2f} USD, with {minutes(ENDING_S)} kept back for the end"
            )
        return None


def counted(turns: int) -> str:
    """Return a number of turns in words."""
    return "turn" if turns == 1 else f"{turns} turns"


def minutes(seconds: float) -> str:
    """Return a length of time as a person says it."""
    if seconds < 0:
        return "no time"
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 90 * 60:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"
