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
        points = [_point(users[one.cell], one) for one in prices if one.topology == arm.label and one.cell in users]
        if points:
            found.append(Series(arm.label, number, tuple(sorted(points, key=lambda point: point.at))))
    if not found:
        return None
    panel = lines("usd-per-million", "A million tokens", "users at once", "USD", found, simulated=simulated)
    numbers = Numbers(COLUMNS, tuple(rows(found, "a million tokens", "USD")))
    return Chart("cost", "What a million tokens cost", _HOW, (panel,), numbers, simulated)


def _point(users: float, one: Price) -> Point:
    """Return a price as a point; a single run has neither interval nor, here, a range."""
    ends = (one.low, one.high) if one.low is not None and one.high is not None else (one.usd_per_million,) * 2
    return Point(users, one.usd_per_million, *ends, one.runs)
