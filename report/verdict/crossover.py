"""Where one topology overtakes the other as users, rates or lengths grow: as an interval, never as a point."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Literal

from experiment.measure.part import Part
from report.verdict.comparison import Comparison

OVER: dict[str, str] = {
    "concurrency": "users",
    "open-loop": "requests a second",
    "prompt-length": "prompt tokens",
    "profiles": "requests a second",
}


class Bracket(Part):
    """Somewhere between two neighbouring levels that differ, the better topology changes."""

    low: float
    high: float
    better_before: str
    better_after: str


class Crossover(Part):
    """Of two topologies over one test.

    Attributes:
        basis: "judged": the levels at both ends of a bracket have a word each. "described": without intervals, by what
            was measured, which may be chance.
        said: found; none in the tested range (one is better wherever they differ); or not shown (no level differs).
    """

    test: str
    profile: str | None
    over: str
    first: str
    second: str
    levels: tuple[float, ...]
    basis: Literal["judged", "described"]
    said: Literal["found", "none in the tested range", "not shown"]
    brackets: tuple[Bracket, ...]


def crossovers(comparisons: Iterable[Comparison]) -> tuple[Crossover, ...]:
    """Return one of each test that has two levels or more; levels at which modes mix are left out."""
    series: dict[tuple[str, str, str, str | None], list[tuple[float, Comparison]]] = defaultdict(list)
    for one in comparisons:
        if not one.judged or one.difference is None or one.first.mode or one.second.mode or one.kind not in OVER:
            continue
        if any(reason.startswith("a mean over modes") for reason in one.withheld):
            continue
        profile, level = _level(one)
        if level is not None:
            series[one.test, one.first.topology, one.second.topology, profile].append((level, one))
    return tuple(
        _crossover(key[0], key[3], sorted(found, key=_first)) for key, found in series.items() if len(found) > 1
    )


def _first(pair: tuple[float, Comparison]) -> float:
    return pair[0]


def _level(one: Comparison) -> tuple[str | None, float | None]:
    if isinstance(one.value, str):
        word, _, number = one.value.rpartition(" ")
        return (word, float(number)) if word else (None, None)
    return None, None if one.value is None else float(one.value)


def _crossover(test: str, profile: str | None, found: Sequence[tuple[float, Comparison]]) -> Crossover:
    judged = all(one.word is not None for _, one in found)
    signs = [(level, better) for level, one in found if (better := _better(one, judged=judged)) is not None]
    first, second = found[0][1].first.topology, found[0][1].second.topology
    names = {True: second, False: first}
    brackets = tuple(
        Bracket(low=low, high=high, better_before=names[before], better_after=names[after])
        for (low, before), (high, after) in pairwise(signs)
        if before != after
    )
    return Crossover(
        test=test,
        profile=profile,
        over=OVER[found[0][1].kind],
        first=first,
        second=second,
        levels=tuple(level for level, _ in found),
        basis="judged" if judged else "described",
        said="found" if brackets else "none in the tested range" if signs else "not shown",
        brackets=brackets,
    )


def _better(one: Comparison, *, judged: bool) -> bool | None:
    """Say whether the second is better; None if that is not shown."""
    if judged:
        return {"faster": True, "slower": False, "no difference shown": None}[one.word or "no difference shown"]
    speed = one.speed
    return None if speed is None or speed == 1 else speed > 1
