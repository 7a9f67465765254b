"""Which topology to choose for which workload, why, and how sure that is."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Literal

from experiment.measure.part import Part
from report.verdict.comparison import Comparison
from report.verdict.words import sized

Sure = Literal["shown", "no difference shown", "described only"]
EITHER = "either"


class Choice(Part):
    """For one workload.

    Attributes:
        topology: to choose; "either" if the data show no reason.
        sure: "shown" by intervals that hold for the whole campaign together, or only described.
    """

    workload: str
    topology: str
    why: str
    sure: Sure
    cell: str


_Pick = Callable[[Sequence[Comparison]], Comparison | None]


def _kind(*kinds: str, last: bool = False) -> _Pick:
    def pick(found: Sequence[Comparison]) -> Comparison | None:
        of_kind = [one for one in found if one.kind in kinds]
        return (of_kind[-1] if last else of_kind[0]) if of_kind else None

    return pick


def _alone(found: Sequence[Comparison]) -> Comparison | None:
    return next((one for one in found if one.kind == "one-user"), None) or next(
        (one for one in found if one.kind == "concurrency" and one.value == 1), None
    )


WORKLOADS: tuple[tuple[str, _Pick], ...] = (
    ("one user at a time, who reads along", _alone),
    ("long prompts, short replies", _kind("prompt-length", last=True)),
    ("few users at once", lambda found: _several(found, least=True)),
    ("many users at once, or batches", lambda found: _several(found, least=False)),
    ("users whose streams must not freeze when others send long prompts", _kind("interference", last=True)),
    ("conversations of many turns", _kind("follow-up")),
    ("service that must go on when a pod dies", _kind("loss")),
)
"""Each with the comparison that decides it; the loads are those that were tested, and named with the choice."""


def choices(comparisons: Sequence[Comparison], hourly: Mapping[str, float]) -> tuple[Choice, ...]:
    """Return a choice for each workload that was tested, for each topology that is held against the first.

    Args:
        comparisons: all.
        hourly: dollars an hour by topology; the cheaper is named where no difference is shown.
    """
    deciding = [one for one in comparisons if one.judged and one.difference is not None]
    return tuple(
        choice
        for second in dict.fromkeys(one.second.topology for one in deciding)
        for choice in _choices([one for one in deciding if one.second.topology == second], hourly)
    )


def _choices(found: Sequence[Comparison], hourly: Mapping[str, float]) -> Iterator[Choice]:
    whole = [one for one in found if one.first.mode is None and one.second.mode is None]
    for workload, pick in WORKLOADS:
        if (one := pick(whole)) is not None:
            yield _choice(workload + _load(one), one, found, hourly)
    profiles = {str(one.value).rpartition(" ")[0]: one for one in whole if one.kind == "profiles"}
    for profile, one in profiles.items():  # the last of each: at the highest rate
        yield _choice(f"profile {profile}", one, found, hourly)


def _load(one: Comparison) -> str:
    """Name the load by which a workload was decided, where the test had several."""
    unit = {"interference": "prompt tokens", "concurrency": "users", "prompt-length": "prompt tokens"}.get(one.kind)
    return (
        f" ({one.value:g} {unit})" if unit is not None and isinstance(one.value, int | float) and one.value > 1 else ""
    )


def _several(found: Sequence[Comparison], *, least: bool) -> Comparison | None:
    several = [one for one in found if one.kind == "concurrency" and isinstance(one.value, int) and one.value > 1]
    if not several or (not least and len(several) == 1):
        return None
    return several[0] if least else several[-1]


def _choice(workload: str, one: Comparison, found: Sequence[Comparison], hourly: Mapping[str, float]) -> Choice:
    if one.word is None and (modal := _by_mode(one, found)) is not None:
        topology, sure, why = modal
    else:
        topology, sure = _better(one)
        why = sized(one)
    if topology == EITHER:
        rates = [hourly.get(side.topology) for side in (one.first, one.second)]
        if rates[0] is not None and rates[1] is not None and rates[0] != rates[1]:
            topology = one.first.topology if rates[0] < rates[1] else one.second.topology
            why += f"; {topology} costs less by the hour"
    return Choice(workload=workload, topology=topology, why=why, sure=sure, cell=one.cell)


def _by_mode(one: Comparison, found: Sequence[Comparison]) -> tuple[str, Sure, str] | None:
    """Choose a topology that is better in whatever mode the other is; none if it depends on the mode."""
    modes = [
        other
        for other in found
        if (other.cell, other.figure) == (one.cell, one.figure) and (other.first.mode or other.second.mode)
    ]
    if not modes:
        return None
    said = {_better(mode) for mode in modes}
    why = "; ".join(sized(mode) for mode in modes)
    if len({topology for topology, _ in said}) > 1:
        return EITHER, "described only", f"it depends on the mode: {why}"
    topology = next(iter(said))[0]
    sure: Sure = next(iter(said))[1] if len(said) == 1 else "described only"
    return topology, sure, why


def _better(one: Comparison) -> tuple[str, Sure]:
    if one.word == "no difference shown":
        return EITHER, "no difference shown"
    speed = one.speed or 1.0
    if speed == 1:
        return EITHER, "described only"
    topology = one.second.topology if speed > 1 else one.first.topology
    return topology, "shown" if one.word is not None else "described only"
