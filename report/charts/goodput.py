"""Tokens a second of requests that keep the objective, over the rate at which requests arrive."""

from collections import defaultdict
from collections.abc import Sequence

from report.charts.chart import Chart, Numbers
from report.charts.lines import COLUMNS, lines, rows
from report.charts.series import WHISKERS, Point, Series, cells, measured, measures
from report.verdict.reading import Arm
from report.verdict.samples import Cell, records_of

_HOW = (
    "A filled mark: every repeat kept the objective at that rate; a hollow one: some did not. The highest rate within "
    f"the objective is the last before the first hollow mark. {WHISKERS}"
)


def goodput(arms: Sequence[Arm], *, simulated: bool) -> Chart | None:
    """Draw a panel a profile of workload."""
    profiles: dict[str, list[Cell]] = defaultdict(list)
    for cell in cells(arms, "profiles"):
        if isinstance(cell.value, str):
            profiles[cell.value.rpartition(" ")[0]].append(cell)
    panels, numbers = [], []
    for profile, found in profiles.items():
        judged = [measure for measure in measures(arms, found) if measure.judged]
        lined = measured(arms, found, judged[0]) if judged else []
        if not lined:
            continue
        kept = {(arm.label, rate) for arm in arms for cell in found if (rate := _kept(arm, cell)) is not None}

        def filled(one: Series, point: Point, kept: set[tuple[str, float]] = kept) -> bool:
            return (one.label, point.at) in kept

        panels.append(
            lines(profile, f"{profile.capitalize()}: good tokens a second", "requests a second", "tokens/s", lined,
                  simulated=simulated, filled=filled)
        )  # fmt: skip
        numbers += rows(lined, f"{profile}: tokens/s within the objective", "")
    if not panels:
        return None
    return Chart(
        "goodput", "Goodput within the objective", _HOW, tuple(panels), Numbers(COLUMNS, tuple(numbers)), simulated
    )


def _kept(arm: Arm, cell: Cell) -> float | None:
    """Return the rate of a cell if every repeat kept the objective."""
    found = [record.figures.goodput for record in records_of(arm, cell)]
    if not found or any(one is None or not one.kept for one in found):
        return None
    return float(str(cell.value).rpartition(" ")[2])
