"""One figure of each topology over what a test varies: what runs measured, and how far they scatter."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log

from report.statistics.intervals import of_mean
from report.verdict.reading import Arm
from report.verdict.samples import Cell, Measure, Sample, cells_of, keep_all, measures_of, middle, sample

LEVEL = 0.95
WHISKERS = "Thick whiskers are 95 % intervals of the runs, thin ones the range of the repeats of a single run."
"""Said of each chart that has them: any may be the first of a page, or be read by itself."""


@dataclass(frozen=True)
class Point:
    """One level.

    Attributes:
        at: what the test varies; 0 if nothing.
        middle: geometric mean of the runs.
        low: lower end of Student's interval of the runs, or of the range of the repeats of a single run.
        high: upper end.
        runs: how many.
    """

    at: float
    middle: float
    low: float
    high: float
    runs: int

    @property
    def is_interval(self) -> bool:
        """Whether the ends are an interval, and not the range of the repeats."""
        return self.runs > 1


@dataclass(frozen=True)
class Series:
    """One topology's points, in order; `number` is the topology's, for its colour and marker."""

    label: str
    number: int
    points: tuple[Point, ...]


def cells(arms: Sequence[Arm], kind: str) -> list[Cell]:
    """Return the cells of a kind that some topology has, in order."""
    found = dict.fromkeys(cell for arm in arms for cell in cells_of(arm) if cell.kind == kind)
    return sorted(found, key=lambda cell: (cell.test, _at(cell) or 0.0))


def measured(arms: Sequence[Arm], over: Sequence[Cell], measure: Measure) -> list[Series]:
    """Return a figure over the levels of cells; topologies without a value are left out."""
    found = [
        Series(arm.label, number, tuple(point for cell in over if (point := point_of(arm, cell, measure)) is not None))
        for number, arm in enumerate(arms)
    ]
    return [one for one in found if one.points]


def measures(arms: Sequence[Arm], over: Sequence[Cell]) -> list[Measure]:
    """Return the figures of cells, the judged one first."""
    found = [measure for cell in over for measure in measures_of(cell, arms)]
    return sorted(dict.fromkeys(found), key=lambda measure: not measure.judged)


def point_of(arm: Arm, cell: Cell, measure: Measure) -> Point | None:
    """Return one topology's figure in one cell; None if it has none."""
    return point(_at(cell) or 0.0, sample(arm, cell, measure, keep_all))


def point(at: float, values: Sample) -> Point | None:
    """Return what runs say together; an interval from two runs on, the range of the repeats otherwise."""
    if not values.by_run:
        return None
    by_run = [value for _, value in values.by_run]
    low, high = min(values.repeats), max(values.repeats)
    if len(by_run) > 1 and min(by_run) > 0:
        found = of_mean([log(value) for value in by_run], LEVEL)
        # So few and so unlike that the interval says nothing: it must not overflow either.
        low, high = exp(max(found.low, -700.0)), exp(min(found.high, 700.0))
    return Point(at=at, middle=middle(by_run), low=low, high=high, runs=len(by_run))


def _at(cell: Cell) -> float | None:
    if isinstance(cell.value, str):
        return float(cell.value.rpartition(" ")[2]) if cell.value.rpartition(" ")[0] else None
    return cell.value
