"""What a million tokens cost, over the number of users."""

from collections.abc import Sequence

from report.charts.chart import Chart, Numbers
from report.charts.lines import COLUMNS, lines, rows
from report.charts.series import Point, Series, cells
from report.verdict.capacity import Price
from report.verdict.reading import Arm

_HOW = (
    "Dollars an hour over tokens a second of all users; thick whiskers are 95 % intervals of the runs. It is the price "
    "of a machine that is busy like this all the time."
)


def cost(arms: Sequence[Arm], prices: Sequence[Price], *, simulated: bool) -> Chart | None:
    """Draw a line for each topology whose hour has a price."""
    users = {cell.name: float(cell.value) for cell in cells(arms, "concurrency") if isinstance(cell.value, int | float)}
    found = []
    for number, arm in enumerate(arms):
        points = [
            Point(users[one.cell], one.usd_per_million, one.low or 0.0, one.high or one.usd_per_million, one.runs)
            for one in prices
            if one.topology == arm.label and one.cell in users
        ]
        if points:
            found.append(Series(arm.label, number, tuple(sorted(points, key=lambda point: point.at))))
    if not found:
        return None
    of_runs = [
        Series(one.label, one.number, tuple(p if p.is_interval else Point(p.at, p.middle, p.middle, p.middle, p.runs)
               for p in one.points)) for one in found
    ]  # fmt: skip
    panel = lines("usd-per-million", "A million tokens", "users at once", "USD", of_runs, simulated=simulated)
    return Chart("cost", "What a million tokens cost", _HOW, (panel,), Numbers(COLUMNS, tuple(rows(of_runs, "a million tokens", "USD"))),
                 simulated)  # fmt: skip
