"""A campaign from its first turn to its end, from wherever it was left."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from campaign import order
from campaign.campaign import Campaign, End
from campaign.forecast import Expected, Forecast
from campaign.journal import Ended, Journal, Looked, Measured, Started, Stopped
from campaign.limits import Limits
from campaign.lives import Lives
from campaign.looks import Look, look, results_of, unusable
from campaign.order import Turn
from campaign.progress import Progress
from campaign.status import Status, about
from experiment.errors import SplitbedError
from report.verdict.capacity import Money

_PASSES_IN_VAIN = 2  # after which it is not worth its money
ATTEMPTS = 3  # Jobs that are tried for one turn within one command


class TurnFailedError(SplitbedError):
    """A turn's benchmark fails again and again."""


@dataclass(frozen=True, kw_only=True)
class Loop:
    """All that a campaign needs.

    Attributes:
        campaign: its question and method.
        journal: what was done; holds the campaign itself already.
        lives: the stack.
        limits: prices and bounds.
        forecast: how long turns take.
        directory: where the records go.
        money: what an hour costs, by topology in words.
        end: how the stack is to be left.
        clock: the moment, with its time zone.
        progress: who is told.
        watch: who shows how far it is.
    """

    campaign: Campaign
    journal: Journal
    lives: Lives
    limits: Limits
    forecast: Forecast
    directory: Path
    money: Mapping[str, Money]
    end: End
    clock: Callable[[], datetime]
    progress: Progress
    watch: Callable[[Status], None]

    def carry_out(self) -> str:
        """Measure until there is a reason to stop, and leave the stack as asked; what is done already is not done anew.

        Returns:
            Why no further turn followed.

        Raises:
            TurnFailedError: a turn failed `ATTEMPTS` times; the same command tries it again.
            SplitbedError: the stack cannot be brought up, or left.
        """
        if self.journal.ended is not None and self.journal.stopped is not None:
            return self.journal.stopped.why
        up = self.lives.begin()
        if self.journal.stopped is None:
            why = self._turns(order.turns(self.campaign), up=up)
            self.journal.add(Stopped(why=why, at=self.clock()))
        why = self.journal.stopped.why if self.journal.stopped else ""
        self.progress.step(f"no further turn: {why}")
        self._leave()
        return why

    def _turns(self, turns: Sequence[Turn], *, up: bool) -> str:
        """Measure turn by turn; return why it ends. Unless the stack is `up`, the first one makes the nodes, too."""
        for turn in turns:
            if turn.number in self.journal.measured:
                continue
            before = turn.pass_number - 1
            if before and self._is_first(turn, turns) and (why := self._ending(before)) is not None:
                return why
            # Half a pass is worth nothing: it is begun only if all of it is within the limits.
            rest = [one for one in turns if one.pass_number == turn.pass_number and one.number >= turn.number]
            if (why := self._refusal(rest, turns, up=up)) is not None:
                return why
            self._measure(turn, turns, up=up)
            up = True
        return self._ending(max(self.campaign.looks)) or "the last planned look is done"

    def _is_first(self, turn: Turn, turns: Sequence[Turn]) -> bool:
        return turn.number == min(one.number for one in turns if one.pass_number == turn.pass_number)

    def _ending(self, runs: int) -> str | None:
        """Return why the campaign ends after so many runs of each, if it does: by a look, or for want of use."""
        if runs >= _PASSES_IN_VAIN and (why := unusable(self.directory, self.campaign)) is not None:
            return f"of {runs} runs of each, no repeat can be used; most often: {why}"
        if runs not in self.campaign.looks:
            return None
        seen = self.journal.looks.get(runs)
        if seen is None:
            found: Look = look(self.directory, self.campaign, self.money, runs)
            for line in found.verdict.answer:
                self.progress.note(line)
            seen = Looked(runs=runs, ending=found.ending, smallest=found.smallest, at=self.clock())
            self.journal.add(seen)
        return _said(seen, self.campaign)

    def _refusal(self, rest: Sequence[Turn], turns: Sequence[Turn], *, up: bool) -> str | None:
        done = self.journal.measured
        expected = self.forecast.of(rest, turns, done)
        ground = 0.0 if up else self.forecast.ground_s
        return self.limits.refusal(self.clock(), expected.seconds + ground, len(done), len(rest))

    def _measure(self, turn: Turn, turns: Sequence[Turn], *, up: bool) -> None:
        topology, label = self.campaign.topologies[turn.topology], self.campaign.labels[turn.topology]
        into = results_of(self.directory, self.campaign)[turn.topology]
        into.mkdir(parents=True, exist_ok=True)
        last = self.journal.attempt(turn.number)
        status = self._status(turn, turns)
        self.watch(status)
        self.progress.step(about(status))
        if last is not None:
            self.progress.note(f"run {turn.run} was begun before; finished repeats are kept")
        first = last or 1
        for attempt in range(first, first + ATTEMPTS):
            started = self.clock()
            self.journal.add(Started(turn=turn.number, run=turn.run, attempt=attempt, at=started))
            places = self.lives.measure(turn, topology, attempt, into)
            if places is not None:
                now = self.clock()
                usual = up and last is None and attempt == first
                seconds = (now - started).total_seconds() if usual else None
                self.journal.add(
                    Measured(turn=turn.number, run=turn.run, attempt=attempt, seconds=seconds, places=places, at=now)
                )
                self.watch(self._status(turn, turns))
                return
        # So that the next command does not find an attempt that has failed already.
        self.journal.add(Started(turn=turn.number, run=turn.run, attempt=first + ATTEMPTS, at=self.clock()))
        raise TurnFailedError(
            f"The benchmark of {label}, run {turn.run}, failed {ATTEMPTS} times; what it measured is in "
            f"{into / turn.run}. The stack is left as it is.",
            "Look at its last words above; the same command tries again and keeps what is measured.",
        )

    def _status(self, turn: Turn, turns: Sequence[Turn]) -> Status:
        done = self.journal.measured
        left = [one for one in turns if one.number not in done]
        expected: Expected = self.forecast.of(left, turns, done)
        now = self.clock()
        return Status(
            turn=turn.number,
            done=len(done),
            of=len(turns),
            label=self.campaign.labels[turn.topology],
            run=turn.run,
            left=expected,
            spent_usd=self.limits.spent_usd(now, len(done)),
            left_usd=self.limits.cost_usd(expected.seconds, len(left)),
            budget_usd=self.limits.budget_usd,
            end=self.limits.end,
            now=now,
        )

    def _leave(self) -> None:
        self.progress.step(LEAVING[self.end])
        self.lives.end(self.end)
        self.journal.add(Ended(how=self.end, at=self.clock()))


LEAVING: Mapping[End, str] = {
    "none": "topology: none is set: nothing is served any more, the nodes stay",
    "destroy": "the whole stack is destroyed",
    "keep": "the stack is left as it is, the last topology served",
    "rehearsed": "the campaign is over, and the rehearsal goes on",
}


def _said(seen: Looked, campaign: Campaign) -> str | None:
    """Return why a look ends the campaign; None if it does not."""
    if seen.ending == "go on":
        return None
    if seen.ending == "narrow enough" and seen.smallest is not None:
        return (
            f"after {seen.runs} runs of each, a change of {100 * seen.smallest:.1f} % would have been shown in every "
            f"judged comparison, and {100 * campaign.difference:g} % was asked for"
        )
    return f"the last planned look, after {seen.runs} runs of each, is done"
