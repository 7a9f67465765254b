"""What each run of a topology says of one cell: one value a run, of one figure."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import exp, log
from statistics import fmean

from experiment.record import RepeatRecord
from report.verdict.figures import Better, Figure, figures_of
from report.verdict.reading import Arm, Run
from report.verdict.typed import TypedCell

Keeps = Callable[[RepeatRecord], bool]


@dataclass(frozen=True)
class Cell:
    """One setting of one test, as both topologies have it."""

    test: str
    kind: str
    name: str
    value: int | float | str | None


@dataclass(frozen=True)
class Measure:
    """A figure as comparisons need it, of records or typed."""

    name: str
    title: str
    unit: str
    better: Better
    judged: bool


@dataclass(frozen=True)
class Sample:
    """One topology's values: of each run the geometric mean of its repeats, and the repeats themselves."""

    by_run: tuple[tuple[Run, float], ...]
    repeats: tuple[float, ...]


def cells_of(arm: Arm) -> list[Cell]:
    """Return the cells that a topology has values of, by test and by what it varies."""
    found: dict[Cell, None] = {}
    for run in arm.runs:
        for record in run.records:
            found[Cell(record.test, record.test_kind, record.cell, record.value)] = None
        for typed in run.typed:
            found[Cell(typed.test, typed.kind, typed.cell, typed.value)] = None
    tests = list(dict.fromkeys((cell.kind, cell.test) for cell in found))
    return sorted(found, key=lambda cell: (tests.index((cell.kind, cell.test)), *_rank(cell.value)))


def measures_of(cell: Cell, arms: Iterable[Arm]) -> list[Measure]:
    """Return the figures that a cell is compared by, the judged one first."""
    typed = [one for arm in arms for run in arm.runs for one in run.typed if _is(one, cell)]
    if typed:
        found = [Measure(one.figure, one.title, one.unit, one.better, one.judged) for one in typed]
        return sorted(dict.fromkeys(found), key=lambda measure: not measure.judged)
    return [_measure(figure) for figure in figures_of(cell.kind)]


def records_of(arm: Arm, cell: Cell) -> list[RepeatRecord]:
    """Return a topology's repeats of a cell."""
    return [record for run in arm.runs for record in run.records if _of(record, cell)]


def sample(arm: Arm, cell: Cell, measure: Measure, keeps: Keeps) -> Sample:
    """Return the values of a figure, of the repeats that are kept."""
    figure = next((one for one in figures_of(cell.kind) if one.name == measure.name), None)
    by_run, repeats = [], []
    for run in arm.runs:
        values = [value for one in run.typed if _is(one, cell) and one.figure == measure.name for value in one.values]
        if figure is not None:
            kept = (figure.of(record) for record in run.records if _of(record, cell) and keeps(record))
            values += [value for value in kept if value is not None]
        if values:
            by_run.append((run, middle(values)))
            repeats += values
    return Sample(tuple(by_run), tuple(repeats))


def keep_all(_: RepeatRecord) -> bool:
    """Keep every repeat."""
    return True


def middle(values: Sequence[float]) -> float:
    """Return the geometric mean of values of which none is negative; zero if one is."""
    return exp(fmean(log(value) for value in values)) if all(value > 0 for value in values) else 0.0


def _measure(figure: Figure) -> Measure:
    return Measure(figure.name, figure.title, figure.unit, figure.better, figure.judged)


def _of(record: RepeatRecord, cell: Cell) -> bool:
    return (record.test_kind, record.cell) == (cell.kind, cell.name)


def _is(typed: TypedCell, cell: Cell) -> bool:
    return (typed.kind, typed.cell) == (cell.kind, cell.name)


def _rank(value: float | str | None) -> tuple[str, float]:
    """Order words apart from numbers, and `chat 0.05` before `chat 0.1`."""
    if isinstance(value, str):
        word, _, number = value.rpartition(" ")
        try:
            return word, float(number)
        except ValueError:
            return value, 0.0
    return "", -1.0 if value is None else float(value)
