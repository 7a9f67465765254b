"""From a stack file and a person's words to a campaign that can begin, or go on."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from campaign.campaign import Campaign, End
from campaign.forecast import Forecast
from campaign.journal import Begun, Journal
from campaign.limits import Limits
from campaign.lives import Lives
from campaign.looks import judged
from campaign.loop import Loop
from campaign.order import turns
from campaign.outline import Outline, outline
from campaign.progress import Progress
from campaign.question import Question, forecast, limits, plans
from campaign.status import Status
from experiment.errors import SplitbedError
from experiment.plan.splitting import SPLIT_FITS
from report.verdict.capacity import Money, hourly_by
from report.verdict.verdict import Verdict

JOURNAL = "journal.jsonl"


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """A campaign that can begin, or go on.

    Attributes:
        question: what was asked for.
        campaign: what was decided, now or by a command before.
        journal: what was done.
        directory: where both and the records are.
        limits: prices and bounds.
        forecast: how long turns take.
        money: what an hour costs, by topology in words.
        end: how the stack is to be left.
    """

    question: Question
    campaign: Campaign
    journal: Journal
    directory: Path
    limits: Limits
    forecast: Forecast
    money: Mapping[str, Money]
    end: End

    @property
    def notes(self) -> tuple[str, ...]:
        """What a person should know before."""
        said = f"The plan's {SPLIT_FITS} is accepted: whether to split what fits on one pod is what is asked."
        return (said,) if self.question.accepts_the_split else ()

    def outline(self, now: datetime) -> Outline:
        """Return what is to come."""
        return outline(
            self.campaign,
            self.journal.measured,
            self.forecast,
            self.limits,
            now,
            directory=str(self.directory),
            end=self.end,
            notes=self.notes,
        )

    def verdict(self) -> Verdict | None:
        """Return the verdict on what is measured; None as long as a topology has nothing."""
        seen = {turn.topology for turn in turns(self.campaign) if turn.number in self.journal.measured}
        if len(seen) < len(self.campaign.topologies):
            return None
        return judged(self.directory, self.campaign, self.money)

    def carry_out(self, lives: Lives, progress: Progress, watch: Callable[[Status], None]) -> str:
        """Do it, from wherever it was left; return why it ended, and raise as `Loop.carry_out`."""
        if self.journal.campaign is None:
            self.directory.mkdir(parents=True, exist_ok=True)
            self.journal.add(Begun(campaign=self.campaign))
        return Loop(
            campaign=self.campaign,
            journal=self.journal,
            lives=lives,
            limits=self.limits,
            forecast=self.forecast,
            directory=self.directory,
            money=self.money,
            end=self.end,
            clock=utc_now,
            progress=progress,
            watch=watch,
        ).carry_out()


def prepared(
    question: Question,
    directory: Path,
    now: datetime,
    *,
    end: End,
    budget_usd: float | None = None,
    overrides: Mapping[str, Any] | None = None,
) -> Prepared:
    """Return the campaign of a directory, new or to be gone on with; nothing is written yet.

    Args:
        question: what is asked for.
        directory: of journal and records.
        now: the moment.
        end: how the stack is to be left.
        budget_usd: what it may cost, in place of the stack's own budget.
        overrides: settings by dotted path that are known only where the stack runs.

    Raises:
        SplitbedError: the directory has another campaign, a topology cannot be planned, or a budget has no prices.
    """
    found = plans(question, now, overrides or {})
    campaign, journal = opened(directory, question, now)
    if budget_usd is not None and found[0].money is None:
        raise SplitbedError(
            f"--budget: the stack {question.stack} pays for nothing itself, so nothing would ever reach it.",
            "Leave it out; --looks says after how many runs it ends.",
        )
    end_date = question.file.replaced(overrides or {}).check(now).end_date
    hourly = {
        label: cost
        for label, plan in zip(campaign.labels, found, strict=True)
        if (cost := hourly_by(plan, label)) is not None
    }
    return Prepared(
        question=question,
        campaign=campaign,
        journal=journal,
        directory=directory,
        limits=limits(campaign, found, budget_usd, end_date),
        forecast=forecast(question, found, overrides or {}),
        money=hourly,
        end=end,
    )


def opened(directory: Path, question: Question, now: datetime) -> tuple[Campaign, Journal]:
    """Return the campaign of a directory and its journal: the one that is there, or a new one that is not written yet.

    Raises:
        SplitbedError: the directory has a campaign with another question or method, or of a stack file that changed.
    """
    journal = Journal.opened(directory / JOURNAL)
    asked, there = question.campaign(now), journal.campaign
    if there is None:
        return asked, journal
    if not there.asks_as(asked):
        differs = [
            f"{name} {_said(there, name)}, not {_said(asked, name)}"
            for name in ("stack", "topologies", "seed", "looks", "difference")
            if getattr(there, name) != getattr(asked, name)
        ]
        if there.settings_hash != asked.settings_hash:
            differs.append("other settings of the stack: its file was changed since")
        raise SplitbedError(
            f"{directory} holds campaign {there.id}, which has {'; '.join(differs)}.",
            "Ask as before to go on with it, or name another directory with --results.",
        )
    return there, journal


def utc_now() -> datetime:
    """Return the moment."""
    return datetime.now(UTC)


def _said(campaign: Campaign, name: str) -> str:
    if name == "topologies":
        return " and ".join(campaign.labels)
    value = getattr(campaign, name)
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
