"""What a campaign would do, before it does anything."""

from datetime import datetime

from pydantic import AwareDatetime

from campaign import order
from campaign.campaign import Campaign, End
from campaign.forecast import Basis, Forecast
from campaign.journal import Measured
from campaign.limits import Limits, minutes
from experiment.measure.part import Amount, Count, Part


class Turns(Part):
    """What a topology is expected to take.

    Attributes:
        topology: in words.
        seconds: of one turn.
        basis: on what that stands.
    """

    topology: str
    seconds: Amount
    basis: Basis


class Stage(Part):
    """Up to a planned look.

    Attributes:
        runs: of each topology.
        turns: that are to come until then.
        seconds: they take.
        usd: they cost; None where nothing is paid for.
        refusal: why there will not be time or money for them; None if there will.
    """

    runs: Count
    turns: Count
    seconds: Amount
    usd: Amount | None
    refusal: str | None


class Outline(Part):
    """The whole of it.

    Attributes:
        id: of the campaign.
        stack: whose nodes are used.
        directory: where journal and records go.
        order: of all turns, a letter each.
        measured: turns that are measured already.
        topologies: with what they take.
        looks: with what leads there.
        ground_s: what the machines take once, if they are not there yet.
        difference: the change that all judged comparisons shall be able to show.
        hour_usd: what the nodes cost, served or not.
        budget_usd: the limit.
        end_date: when they are taken away.
        end: how the stack is left.
        notes: what a person should know.
    """

    id: str
    stack: str
    directory: str
    order: str
    measured: Count
    topologies: tuple[Turns, ...]
    looks: tuple[Stage, ...]
    ground_s: Amount
    difference: Amount
    hour_usd: Amount | None
    budget_usd: Amount | None
    end_date: AwareDatetime | None
    end: End
    notes: tuple[str, ...]


def outline(
    campaign: Campaign,
    measured: dict[int, Measured],
    forecast: Forecast,
    limits: Limits,
    now: datetime,
    *,
    directory: str,
    end: End,
    notes: tuple[str, ...],
) -> Outline:
    """Return what is to come, by the plan and by the turns that were measured."""
    turns = order.turns(campaign)
    ground = 0.0 if measured else forecast.ground_s
    looks = []
    for runs in sorted(set(campaign.looks)):
        rest = [turn for turn in turns if turn.pass_number <= runs and turn.number not in measured]
        expected = forecast.of(rest, turns, measured)
        seconds = expected.seconds + (ground if rest else 0.0)
        looks.append(
            Stage(
                runs=runs,
                turns=len(rest),
                seconds=seconds,
                usd=limits.cost_usd(seconds, len(rest)),
                refusal=limits.refusal(now, seconds, len(measured), len(rest)) if rest else None,
            )
        )
    parts = []
    for place, label in enumerate(campaign.labels):
        one = forecast.of([turn for turn in turns if turn.topology == place][:1], turns, measured)
        parts.append(Turns(topology=label, seconds=one.seconds, basis=one.basis))
    return Outline(
        id=campaign.id,
        stack=campaign.stack,
        directory=directory,
        order=order.letters(campaign),
        measured=len(measured),
        topologies=tuple(parts),
        looks=tuple(looks),
        ground_s=ground,
        difference=campaign.difference,
        hour_usd=limits.hour_usd,
        budget_usd=limits.budget_usd,
        end_date=limits.end,
        end=end,
        notes=notes,
    )


def lines(found: Outline) -> tuple[str, ...]:
    """Return it in sentences."""
    said = [f"Campaign {found.id} on the nodes of stack {found.stack}; journal and records in {found.directory}."]
    said += [
        f"{chr(ord('A') + place)}: {one.topology}; a turn takes {_bound(one.basis)} {minutes(one.seconds)} "
        f"({_BASES[one.basis]})."
        for place, one in enumerate(found.topologies)
    ]
    said.append(f"Order: {found.order}.")
    if found.measured:
        said.append(f"{found.measured} turns are measured already and are not measured again.")
    if found.ground_s:
        said.append(f"Before the first turn about {minutes(found.ground_s)} for cluster and nodes, if they are not up.")
    for one in found.looks:
        money = f" and {one.usd:.2f} USD" if one.usd is not None else ""
        refused = f"; not reached as things stand: {one.refusal}" if one.refusal else ""
        said.append(f"Look after {one.runs} runs of each: {minutes(one.seconds)}{money} from here{refused}.")
    said.append(
        f"It ends at a look once a change of {100 * found.difference:g} % would be shown in every judged comparison, "
        "at the last look in any case, and before a turn for which there is neither time nor money."
    )
    if found.hour_usd is not None:
        limit = f"; the budget is {found.budget_usd:.2f} USD" if found.budget_usd is not None else ""
        said.append(f"The nodes cost {found.hour_usd:.2f} USD an hour, served or not{limit}.")
    if found.end_date is not None:
        said.append(f"The end date is {found.end_date:%Y-%m-%d %H:%M %Z}.")
    said.append(f"In the end: {ending(found.end, found.hour_usd)}")
    return (*said, *found.notes)


def ending(how: End, hour_usd: float | None) -> str:
    """Say how the stack will be left, and what it costs then."""
    cost = f" and cost {hour_usd:.2f} USD an hour until it is destroyed or its end date comes" if hour_usd else ""
    if how == "rehearsed":
        return "the rehearsal goes on, and takes the stack down."
    if how == "destroy":
        return "the whole stack is destroyed; the records are here by then (--end none leaves its nodes)."
    if how == "none":
        return f"topology: none is set, so that nothing is served; the nodes stay{cost} (--end destroy takes all down)."
    return f"the stack is left as it is, the last topology served; its nodes stay{cost} (--end destroy takes all down)."


def _bound(basis: Basis) -> str:
    return "at most" if basis == "at most" else "about"


_BASES: dict[Basis, str] = {
    "measured": "as measured",
    "planned": "as planned",
    "at most": "by the plan's own limits; more is not known beforehand",
}
