"""Two topologies side by side in one cell and one figure: the size, its interval, and the word."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import expm1, log
from typing import Literal

from experiment.measure.part import Amount, Count, Part, Signed
from report.statistics.design import LEAST_RUNS, Design
from report.statistics.intervals import Estimate, detectable, of_difference, of_mean
from report.statistics.pairing import pairs
from report.verdict.figures import Better
from report.verdict.modes import Stratum, strata
from report.verdict.reading import Arm
from report.verdict.samples import Cell, Measure, Sample, cells_of, keep_all, measures_of, middle, records_of, sample

Word = Literal["faster", "slower", "no difference shown"]

DESCRIBED = 0.95
"""Level of an interval by which nothing is judged."""


class Side(Part):
    """What one topology measured: the geometric mean of its runs, and the range of all repeats."""

    topology: str
    mode: str | None
    runs: Count
    repeats: Count
    middle: Amount
    low: Amount
    high: Amount


class Difference(Part):
    """Of the second topology against the first: change of the figure as a share of the first's.

    Attributes:
        change: 0.21 is 21 % more of the figure, -0.1 is 10 % less.
        low: lower bound of its interval; None with one run of a topology.
        high: upper bound.
        level: of the interval.
        paired: whether runs next to each other were compared, so that drift cancels.
        detectable: smallest true change that would have been shown with the design's power; None without interval.
    """

    change: Signed
    low: Signed | None
    high: Signed | None
    level: Amount | None
    paired: bool
    detectable: Amount | None


class Comparison(Part):
    """One figure of one cell.

    Attributes:
        judged: whether this is the figure that decides on the cell.
        word: said of the second topology; None if nothing is judged, or this figure decides nothing.
        withheld: why no word is said of a figure that would decide.
    """

    test: str
    kind: str
    cell: str
    value: int | float | str | None
    figure: str
    title: str
    unit: str
    better: Better
    judged: bool
    first: Side
    second: Side
    difference: Difference | None
    word: Word | None
    withheld: tuple[str, ...]

    @property
    def speed(self) -> float | None:
        """How much better the second is than the first: above 1 it is; None if there is no ratio."""
        if self.difference is None:
            return None
        ratio = 1 + self.difference.change
        return ratio if self.better == "higher" else 1 / ratio


@dataclass(frozen=True)
class _Draft:
    cell: Cell
    measure: Measure
    labels: tuple[str, str]
    modes: tuple[str | None, str | None]
    samples: tuple[Sample, Sample]
    withheld: tuple[str, ...]
    unlike: bool

    @property
    def judgeable(self) -> bool:
        return self.measure.judged and not self.withheld


def compare(arms: Sequence[Arm], design: Design, withheld: Sequence[str] = ()) -> tuple[Comparison, ...]:
    """Compare every other topology with the first in every cell that both have.

    Args:
        arms: the topologies; the first is what the others are held against.
        design: the method; all figures that can be judged are one family.
        withheld: why nothing at all may be judged.

    Raises:
        SplitbedError: there are more runs than the design planned.
    """
    drafts = [draft for other in arms[1:] for draft in _drafts(arms[0], other, tuple(withheld))]
    family = sum(draft.judgeable for draft in drafts)
    return tuple(_finish(draft, design, family) for draft in drafts)


def _drafts(first: Arm, second: Arm, withheld: tuple[str, ...]) -> Iterator[_Draft]:
    common = set(cells_of(second))
    for cell in cells_of(first):
        if cell not in common:
            continue
        shapes = [{record.prompt.shape_hash for record in records_of(arm, cell)} for arm in (first, second)]
        unlike = len(shapes[0] | shapes[1]) > 1
        modes = [(strata(arm, cell) or (None, ()))[1] for arm in (first, second)]
        for measure in measures_of(cell, (first, second)):
            reasons = list(withheld)
            if unlike:
                reasons.append("not compared: what was sent differs (shape hashes of the prompts)")
            if any(modes) and measure.judged:
                reasons.append("a mean over modes says nothing: see the modes, each of which is compared below")
            yield from _draft(cell, measure, (first, second), (None, None), tuple(reasons), unlike)
            if any(modes) and measure.judged and not unlike:
                for one in modes[0] or (None,):
                    for other in modes[1] or (None,):
                        yield from _draft(cell, measure, (first, second), (one, other), withheld, unlike)


def _draft(
    cell: Cell,
    measure: Measure,
    arms: tuple[Arm, Arm],
    modes: tuple[Stratum | None, Stratum | None],
    withheld: tuple[str, ...],
    unlike: bool,
) -> Iterator[_Draft]:
    first, second = (
        sample(arm, cell, measure, mode.keeps if mode is not None else keep_all)
        for arm, mode in zip(arms, modes, strict=True)
    )
    if not first.by_run or not second.by_run:
        return
    reasons = [*withheld]
    fewest = min(len(first.by_run), len(second.by_run))
    if fewest == 1:
        reasons.append("one run of a topology, which describes and does not judge")
    elif fewest < LEAST_RUNS:
        reasons.append(f"{fewest} runs of a topology, and it takes {LEAST_RUNS} to judge")
    if any(value <= 0 for value in (*first.repeats, *second.repeats)):
        reasons.append("a value is zero, so that no ratio can be told")
    elif fewest > 1 and _estimate(first, second, DESCRIBED)[0].error == 0:
        reasons.append("the runs do not scatter at all, as if one had been copied: nothing can be told of chance")
    names = tuple(mode.name if mode is not None else None for mode in modes)
    yield _Draft(
        cell, measure, (arms[0].label, arms[1].label), (names[0], names[1]), (first, second), tuple(reasons), unlike
    )


def _finish(draft: _Draft, design: Design, family: int) -> Comparison:
    first, second = draft.samples
    level = DESCRIBED
    if draft.judgeable:
        level = design.level(min(len(first.by_run), len(second.by_run)), family)
    difference = None if draft.unlike else _difference(first, second, level, design.power)
    cell, measure = draft.cell, draft.measure
    return Comparison(
        test=cell.test,
        kind=cell.kind,
        cell=cell.name,
        value=cell.value,
        figure=measure.name,
        title=measure.title,
        unit=measure.unit,
        better=measure.better,
        judged=measure.judged,
        first=_side(draft.labels[0], draft.modes[0], first),
        second=_side(draft.labels[1], draft.modes[1], second),
        difference=difference,
        word=_word(difference, measure.better) if draft.judgeable and difference is not None else None,
        withheld=draft.withheld if measure.judged else (),
    )


def _side(label: str, mode: str | None, found: Sample) -> Side:
    return Side(
        topology=label,
        mode=mode,
        runs=len(found.by_run),
        repeats=len(found.repeats),
        middle=middle([value for _, value in found.by_run]),
        low=min(found.repeats),
        high=max(found.repeats),
    )


def _difference(first: Sample, second: Sample, level: float, power: float) -> Difference | None:
    if any(value <= 0 for value in (*first.repeats, *second.repeats)):
        return None
    if min(len(first.by_run), len(second.by_run)) == 1:
        change = middle([value for _, value in second.by_run]) / middle([value for _, value in first.by_run]) - 1
        return Difference(change=change, low=None, high=None, level=None, paired=False, detectable=None)
    found, paired = _estimate(first, second, level)
    smallest = detectable(found.error, found.freedom, level, power)
    return Difference(
        change=expm1(found.mean),
        low=expm1(found.low),
        high=_grown(found.high),
        level=level,
        paired=paired,
        detectable=_grown(smallest),
    )


def _estimate(first: Sample, second: Sample, level: float) -> tuple[Estimate, bool]:
    """Estimate the difference of logarithms, in pairs if the topologies took turns."""
    order = sorted(
        [*((run.started_at, False, value) for run, value in first.by_run),
         *((run.started_at, True, value) for run, value in second.by_run)]
    )  # fmt: skip
    found = pairs([(is_second, log(value)) for _, is_second, value in order])
    if found is not None and len(found) > 1:
        return of_mean([after - before for before, after in found], level), True
    before, after = ([log(value) for _, value in side.by_run] for side in (first, second))
    return of_difference(before, after, level), False


def _word(difference: Difference, better: Better) -> Word:
    if difference.low is None or difference.high is None or difference.low <= 0 <= difference.high:
        return "no difference shown"
    return "faster" if (difference.low > 0) == (better == "higher") else "slower"


def _grown(logarithm: float) -> float:
    """Return the change of a logarithm; of one beyond all measure, the greatest that is told."""
    return expm1(min(logarithm, 20.0))
