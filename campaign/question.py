"""What a campaign is to answer, and what the plans of its topologies say to that."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from campaign import topologies
from campaign.campaign import Campaign, named
from campaign.forecast import Forecast, ground_s, planned
from campaign.limits import Limits
from campaign.stacklives import longest_s
from experiment.errors import SplitbedError
from experiment.plan.plan import ExperimentPlan, make
from experiment.plan.splitting import SPLIT_FITS
from experiment.settings import KEY
from experiment.topology import Single, Split, Topology
from stackfiles.stackfile import StackFile

_MOVES = ("topology", "end_date", "budget", "accept", "tags")
"""Settings that say nothing about what is measured, or that every turn sets."""


@dataclass(frozen=True)
class Question:
    """What a person asks for.

    Attributes:
        stack: its name.
        file: what its file says, with what the person replaced.
        topologies: the first is what the others are held against.
        seed: of the order.
        looks: after how many runs of each it may end.
        difference: that is to be shown, as a share.
    """

    stack: str
    file: StackFile
    topologies: tuple[Topology, ...]
    seed: int
    looks: tuple[int, ...]
    difference: float

    @property
    def settings(self) -> Mapping[str, Any]:
        """What the file says of the experiment."""
        found: Mapping[str, Any] = self.file.document["config"][KEY]
        return found

    @property
    def accepts_the_split(self) -> bool:
        """Whether a mistake of a plan is accepted here and not in the file.

        To split what fits on one pod is one, and is the question of a campaign that has it on one pod too.
        """
        kinds = {type(one) for one in self.topologies}
        return {Single, Split} <= kinds and SPLIT_FITS not in (self.settings.get("accept") or ())

    def varied(self) -> StackFile:
        """Return the file that turns are made from."""
        if not self.accepts_the_split:
            return self.file
        return self.file.replaced({"accept": [*(self.settings.get("accept") or ()), SPLIT_FITS]})

    def campaign(self, now: datetime) -> Campaign:
        """Return a campaign that begins now."""
        return Campaign(
            id=named(now),
            stack=self.stack,
            settings_hash=_hash(self.settings),
            topologies=self.topologies,
            seed=self.seed,
            looks=self.looks,
            difference=self.difference,
            begun_at=now,
        )


def plans(question: Question, now: datetime, overrides: Mapping[str, Any]) -> tuple[ExperimentPlan, ...]:
    """Return the plan of each topology.

    Args:
        question: what is asked for.
        now: from which the time to the end date counts.
        overrides: settings by dotted path that are known only where the stack runs.

    Raises:
        SplitbedError: one cannot be made or would be stopped, or nothing is measured.
    """
    found = []
    for topology in question.topologies:
        label = topologies.label(topology)
        file = question.varied().replaced({**overrides, "topology": topologies.mapping(topology)})
        try:
            settings = file.check(now)
        except SplitbedError as error:
            raise SplitbedError(f"With topology {label}, {error.message}", error.remedy) from None
        if settings.benchmark is None:
            raise SplitbedError(
                f"Stack {question.stack} measures nothing: no benchmark is set.", "Say in its file what is measured."
            )
        plan = make(settings, now)
        if not plan.goes:
            raise SplitbedError(
                f"{label} would be stopped by its plan:\n" + "\n".join(f"  {one}" for one in plan.stops)
            )
        found.append(plan)
    return tuple(found)


def forecast(question: Question, plans_: Sequence[ExperimentPlan], overrides: Mapping[str, Any]) -> Forecast:
    """Return how long turns take, by the plans."""
    longest = longest_s(question.varied().replaced(overrides))
    return Forecast([planned(plan, longest) for plan in plans_], max(map(ground_s, plans_)))


def limits(
    campaign: Campaign, plans_: Sequence[ExperimentPlan], budget_usd: float | None, end: datetime | None
) -> Limits:
    """Return what it may spend; the dearest plan counts.

    Args:
        campaign: whose beginning counts.
        plans_: of its topologies.
        budget_usd: what a person said, in place of the stack's own.
        end: the end date.
    """
    money = [plan.money for plan in plans_ if plan.money is not None]
    if not money:
        return Limits(begun_at=campaign.begun_at, end=end, budget_usd=budget_usd)
    own = min((one.budget_usd for one in money if one.budget_usd is not None), default=None)
    return Limits(
        begun_at=campaign.begun_at,
        hour_usd=max(one.hour_usd for one in money),
        turn_usd=max(sum(line.usd or 0 for line in one.once) for one in money),
        budget_usd=own if budget_usd is None else budget_usd,
        end=end,
    )


def _hash(settings: Mapping[str, Any]) -> str:
    kept = {key: value for key, value in settings.items() if key not in _MOVES}
    if isinstance(kept.get("benchmark"), dict):
        kept["benchmark"] = {k: v for k, v in kept["benchmark"].items() if k not in ("run", "attempt")}
    return hashlib.sha256(json.dumps(kept, sort_keys=True, default=str).encode()).hexdigest()[:12]
