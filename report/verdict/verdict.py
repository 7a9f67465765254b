"""The verdict on results: one value that holds the whole answer, for people and for programs."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Literal

from pydantic import AwareDatetime

from experiment.measure.part import Count, Part
from report.statistics.design import Design
from report.verdict.capacity import Capacity, Money, Price, capacities, prices
from report.verdict.comparison import Comparison, compare
from report.verdict.crossover import Crossover, crossovers
from report.verdict.decision import Choice, choices
from report.verdict.likeness import cautions, refuse_unlike, withheld_for
from report.verdict.method import Method
from report.verdict.modes import Modes, alternating, strata
from report.verdict.pods import PodCost, pod_costs
from report.verdict.reading import Arm, LeftOut, Reading
from report.verdict.samples import cells_of, keep_all, measures_of, sample


class Subject(Part):
    """What was measured of one topology, on what."""

    topology: str
    runs: tuple[str, ...]
    repeats: Count
    model: str
    engine: str
    client: str
    simulated: bool
    first_at: AwareDatetime | None
    last_at: AwareDatetime | None


class Verdict(Part):
    """All that `splitbed compare` has to say."""

    schema_version: Literal[1] = 1
    answer: tuple[str, ...]
    cautions: tuple[str, ...]
    method: Method
    subjects: tuple[Subject, ...]
    choices: tuple[Choice, ...]
    comparisons: tuple[Comparison, ...]
    modes: tuple[Modes, ...]
    pods: tuple[PodCost, ...] = ()
    crossovers: tuple[Crossover, ...]
    capacities: tuple[Capacity, ...]
    money: tuple[Money, ...]
    prices: tuple[Price, ...]
    left_out: tuple[LeftOut, ...]

    def to_json(self) -> str:
        """Return the verdict for a program."""
        return self.model_dump_json(indent=2) + "\n"


def judge(reading: Reading, design: Design, money: Mapping[str, Money]) -> Verdict:
    """Return the verdict on what was read; the first topology is what the others are held against.

    Raises:
        SplitbedError: the topologies cannot be compared at all, or there are more runs than the design planned.
    """
    arms = reading.arms
    refuse_unlike(arms)
    withheld = withheld_for(arms)
    comparisons = compare(arms, design, withheld)
    deciding = choices(comparisons, {label: one.usd_per_hour for label, one in money.items()})
    return Verdict(
        answer=_answer(arms, comparisons, deciding, withheld),
        cautions=(*(f"Nothing is judged: {reason}." for reason in withheld), *cautions(arms), *_order(comparisons)),
        method=Method.of(design, sum(one.word is not None for one in comparisons)),
        subjects=tuple(_subject(arm) for arm in arms),
        choices=deciding,
        comparisons=comparisons,
        modes=tuple(_modes(arms)),
        pods=pod_costs(arms),
        crossovers=crossovers(comparisons),
        capacities=capacities(arms, money),
        money=tuple(money.values()),
        prices=prices(arms, money),
        left_out=(*reading.left_out, *_alone(arms), *_without(arms)),
    )


def _answer(
    arms: Sequence[Arm], comparisons: Sequence[Comparison], deciding: Sequence[Choice], withheld: Sequence[str]
) -> tuple[str, ...]:
    """Return what a reader with one minute is to know."""
    first = arms[0].label
    said = []
    for arm in arms[1:]:
        found = [one for one in comparisons if one.second.topology == arm.label and one.judged]
        counts = {word: sum(one.word == word for one in found) for word in ("faster", "slower", "no difference shown")}
        if any(counts.values()):
            parts = ", ".join(f"{word} in {number}" for word, number in counts.items() if number)
            said.append(f"{arm.label} against {first}: {parts} of {sum(counts.values())} judged comparisons.")
        elif not found:
            said.append(f"{arm.label} against {first}: they have no test in common.")
        elif withheld:
            said.append(f"{arm.label} against {first}: nothing is judged ({withheld[0].partition(':')[0]}).")
        else:
            said.append(f"{arm.label} against {first}: described, not judged: {found[0].withheld[0]}.")
    said += [f"For {one.workload}: {one.topology} ({one.sure})." for one in deciding]
    return tuple(said)


def _order(comparisons: Sequence[Comparison]) -> tuple[str, ...]:
    apart = any(
        one.word is not None and one.difference is not None and not one.difference.paired for one in comparisons
    )
    said = (
        "The topologies did not take turns (A B B A), so drift of the machines may look like a difference, and "
        "intervals are wider than paired ones."
    )
    return (said,) if apart else ()


def _modes(arms: Sequence[Arm]) -> list[Modes]:
    found = []
    for arm in arms:
        for cell in cells_of(arm):
            between = strata(arm, cell)
            one = between[0] if between is not None else alternating(arm, cell)
            if one is not None:
                found.append(one)
    return found


def _alone(arms: Sequence[Arm]) -> list[LeftOut]:
    """Name the tests that only some topologies have."""
    cells = {arm.label: cells_of(arm) for arm in arms}
    return [
        LeftOut(topology=label, what=cell.name, why="no other topology was measured in it")
        for label, found in cells.items()
        for cell in found
        if not any(cell in others for other, others in cells.items() if other != label)
    ]


def _without(arms: Sequence[Arm]) -> list[LeftOut]:
    """Name the tests whose repeats lack the figure that would decide."""
    return [
        LeftOut(topology=arm.label, what=cell.name, why=f"its repeats have no {measure.title}")
        for arm in arms
        for cell in cells_of(arm)
        for measure in measures_of(cell, arms)
        if measure.judged and not sample(arm, cell, measure, keep_all).by_run
    ]


def _subject(arm: Arm) -> Subject:
    records = [record for run in arm.runs for record in run.records]
    typed = [run.about for run in arm.runs if run.about is not None]
    moments: list[datetime] = [record.started_at for record in records]
    engines = {f"vLLM {record.engine.version or 'of unknown version'}" for record in records}
    return Subject(
        topology=arm.label,
        runs=tuple(run.name for run in arm.runs),
        repeats=len(records),
        model=", ".join(sorted({record.engine.model for record in records} | {one.model for one in typed})),
        engine=", ".join(sorted(engines | {f"{one.engine}, {one.hardware}; typed: {one.source}" for one in typed})),
        client=", ".join(sorted({record.client.node or record.client.host for record in records})),
        simulated=any(record.engine.simulated for record in records),
        first_at=min(moments, default=None),
        last_at=max(moments, default=None),
    )
