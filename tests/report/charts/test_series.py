from pathlib import Path

import pytest

from report.charts.lines import lines
from report.charts.scale import number, scale
from report.charts.series import Point, Series, cells, measured, measures
from report.verdict.reading import Named, read
from tests.benchmark.records import REAL, repeat, reply
from tests.report.verdict.standin import SINGLE, SPLIT
from tests.report.verdict.test_reading import write

GPU = Path(__file__).parents[1] / "verdict" / "data"


def test_two_runs_have_an_interval_and_one_has_a_range(tmp_path: Path) -> None:
    for run, gap in (("1", 0.25), ("2", 0.5)):
        write(tmp_path / run, repeat(1, reply(gaps_s=(gap, gap)), engine=REAL, topology=SINGLE, run=run))
    for number_, gap in ((1, 0.25), (2, 0.5)):
        write(tmp_path / f"b{number_}", repeat(number_, reply(gaps_s=(gap, gap)), engine=REAL, topology=SPLIT, run="3"))
    arms = read([Named(tmp_path)]).arms
    (cell,) = cells(arms, "one-user")
    single, split = measured(arms, [cell], measures(arms, [cell])[0])
    # 4 and 2 tokens a second; t with one degree of freedom is 12.706, the standard error of the logarithms ln(2) / 2.
    (point,) = single.points
    assert point.middle == pytest.approx(8**0.5)
    assert point.low == pytest.approx(8**0.5 * 2 ** (-12.706 / 2), rel=1e-3)
    assert point.high == pytest.approx(8**0.5 * 2 ** (12.706 / 2), rel=1e-3)
    assert point.is_interval
    (point,) = split.points
    assert (point.low, point.high, point.runs, point.is_interval) == (2, 4, 1, False)


def test_levels_are_in_order_and_topologies_keep_their_numbers() -> None:
    arms = read([Named(GPU / "post-gpu-tp4x1.json"), Named(GPU / "post-gpu-tp2x2.json")]).arms
    found = cells(arms, "concurrency")
    assert [cell.value for cell in found] == [1, 4, 16, 32, 64, 128]
    series = measured(arms, found, measures(arms, found)[0])
    assert [(one.label, one.number) for one in series] == [("TP=4 x 1", 0), ("TP=2 x 2", 1)]
    assert [point.middle for point in series[1].points][-1] == pytest.approx(5800)


@pytest.mark.parametrize(
    ("unit", "most", "said"),
    [("s", 0.0471, "47.1 ms"), ("s", 5.67, "5.67 s"), ("s", 0.0005, "500 µs"), ("bytes", 300, "300 bytes"),
     ("bytes", 15200, "15.2 kB"), ("bytes", 2e7, "20.0 MB"), ("tokens/s", 5800, "5,800 tokens/s"), ("", 0, "0")],
)  # fmt: skip
def test_units_are_those_that_a_reader_can_say(unit: str, most: float, said: str) -> None:
    assert scale(unit, [most]).said(most) == said


def test_three_digits_and_no_exponent() -> None:
    assert [number(value) for value in (0, 0.12345, 1.2345, 12.345, 123.45, 12345678.9)] == [
        "0", "0.123", "1.23", "12.3", "123", "12,345,679"]  # fmt: skip


def test_figures_that_are_all_zero_are_drawn() -> None:
    nothing = Series("single", 0, (Point(1, 0, 0, 0, 1), Point(2, 0, 0, 0, 1)))
    drawn = lines("goodput", "Good tokens a second", "requests a second", "tokens/s", [nothing], simulated=False)
    assert drawn.figure.axes[0].get_ylim() == (0, 1)
