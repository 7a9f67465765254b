"""What each chart says of records whose figures are known."""

from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from experiment.kinds.base import Kind
from experiment.kinds.profiles import Profiles
from experiment.kinds.sharing import FollowUp, Interference
from experiment.measure.counters import Counters
from experiment.measure.figures import figures_of
from experiment.measure.pods import uses
from experiment.record import Figures, RepeatRecord, Reply, Request, Stamps, Tokens
from report.charts import palette
from report.charts.chart import Chart
from report.charts.cost import cost
from report.charts.follow_up import follow_up
from report.charts.gaps import gaps
from report.charts.goodput import goodput
from report.charts.interference import Stream, drawn, interference, streams_of
from report.charts.load import load, prompts
from report.charts.pods import pods
from report.charts.series import cells
from report.statistics.design import Design
from report.verdict.capacity import Money
from report.verdict.modes import Modes, ModeShare
from report.verdict.reading import Arm, Named, read
from report.verdict.verdict import Verdict, judge
from tests.benchmark.records import REAL, repeat, reply, request
from tests.report.demonstration import pods_of
from tests.report.verdict.standin import SINGLE, SPLIT
from tests.report.verdict.test_reading import write

pytestmark = pytest.mark.thorough
POSTS = Path(__file__).parents[1] / "verdict" / "data"


def stream(sent_s: float, first_s: float, *gaps_s: float) -> Reply:
    chunks = tuple(accumulate(gaps_s, initial=sent_s + first_s))
    stamps = Stamps(sent_s=sent_s, headers_s=sent_s, chunks_s=chunks, end_s=chunks[-1])
    tokens = Tokens(prompt=64, output=len(chunks), cached=None)
    return Reply(finish_reason="length", tokens=tokens, stamps=stamps, figures=Figures.of(stamps, tokens.output))


def of(test: Kind, number: int, *requests: Request, **changes: Any) -> RepeatRecord:
    (cell, *_) = test.cells
    figures = figures_of(test, requests, Counters(unknown="none"), None)  # type: ignore[arg-type]  # one of the union
    fields = {"test": test.name, "test_kind": test.kind, "cell": cell.name, "value": cell.value}  # type: ignore[attr-defined]
    return repeat(number, engine=REAL, requests=requests, figures=figures, **(fields | changes))


def arms_of(directory: Path, *records: RepeatRecord) -> tuple[Arm, ...]:
    write(directory, *records)
    return read([Named(directory)]).arms


def alts(chart: Chart | None) -> str:
    assert chart is not None
    return " ".join(panel.alt for panel in chart.panels)


def posts(first: str, second: str, money: dict[str, Money] | None = None) -> tuple[tuple[Arm, ...], Verdict]:
    reading = read([Named(POSTS / f"post-{first}.json"), Named(POSTS / f"post-{second}.json")])
    return reading.arms, judge(reading, Design(), money or {})


@pytest.fixture
def freeze(tmp_path: Path) -> tuple[Arm, ...]:
    """Two repeats: the stream has a token each 0.25 s and stands still for 2 s, or for 3 s; the prompt takes 4 s."""
    test = Interference(kind="interference", prompt_tokens=(900,))
    records = []
    for number, still in ((1, 2.0), (2, 3.0)):
        open_one = request(stream(1000.0, 0.5, *[0.25] * 8, still, *[0.25] * 12), user=0, role="stream")
        long_one = request(stream(1002.25, 4.0, 0.25), user=1, role="long-prompt")
        records.append(of(test, number, open_one, long_one))
    return arms_of(tmp_path, *records)


def test_the_freeze_is_where_the_stream_stands_still(freeze: tuple[Arm, ...]) -> None:
    (streams,) = (streams_of(freeze, cell) for cell in cells(freeze, "interference"))
    short, long = streams["split (pipeline 2)"]
    assert short.freeze == pytest.approx((0.25, 2.25))
    assert long.freeze == pytest.approx((0.25, 3.25))
    assert (short.stall_s, long.stall_s) == (1.75, 2.75)
    assert long.received(1.0) == 9  # the first, and eight after it
    said = alts(interference(freeze, simulated=False))
    assert "had a token every 250 ms, stands still for 3.00 s" in said
    assert "first token comes after 4.00 s" in said
    assert "stall was 1.75 to 2.75 s" in said


@pytest.mark.parametrize("count", [1, 2, 12, 13, 24, 60])
def test_of_many_repeats_the_median_is_drawn_last_and_the_ends_are_too(count: int) -> None:
    streams = [Stream((0.0, 1.0), stall_s=number, longest_gap_s=1, baseline_gap_s=1, long_ttft_s=1)
               for number in range(count)]  # fmt: skip
    found = [one.stall_s for one in drawn(streams)]
    assert found[-1] == count // 2
    assert {0, count - 1} <= set(found)
    assert len(set(found)) == len(found) == min(count, 13)


def test_a_follow_up_names_what_the_cache_saved(tmp_path: Path) -> None:
    test = FollowUp(kind="follow-up")
    requests = [
        request(stream(1000.0, 2.0, 0.25), role="first-turn"),
        request(stream(1010.0, 0.5, 0.25), role="second-turn", prefix={"queries": 200.0, "hits": 150.0}),
        request(stream(1020.0, 2.0, 0.25), role="control", prefix={"queries": 200.0, "hits": 0.0}),
    ]
    chart = follow_up(arms_of(tmp_path, of(test, 1, *requests)), simulated=False)
    assert "warm 500 ms, cold 2,000 ms" in alts(chart) or "warm 0.500 s, cold 2.00 s" in alts(chart)
    assert "75 % cached" in alts(chart)
    assert chart is not None
    assert chart.numbers.rows[0][1] == "500"
    assert chart.numbers.rows[0][-2] == "4.00"


def test_what_an_idle_pod_takes_is_taken_off(tmp_path: Path) -> None:
    """100 CPU seconds and 1,000 tokens in 50 s, where 10 idle seconds took 4: (100 - 20) / 1000 are 80 ms a token."""
    busy, idle = pods_of(50.0, {"leader": (100.0, 5000)}), pods_of(10.0, {"leader": (4.0, 200)})
    tokens = reply(gaps_s=(0.001,) * 999)
    one = repeat(1, tokens, engine=REAL, topology=SINGLE, pods=busy)
    one = one.model_copy(update={"figures": one.figures.model_copy(update={"pods": uses(busy, 1000)})})
    still = repeat(1, engine=REAL, topology=SINGLE, test="idle", test_kind="idle", cell="idle", requests=(), pods=idle)
    still = still.model_copy(update={"figures": still.figures.model_copy(update={"pods": uses(idle, 0)})})
    with_idle = pods(arms_of(tmp_path / "a", one, still), simulated=False)
    assert "single (tensor 1): leader: 80.0 ms" in alts(with_idle)
    assert "leader: 4.00 bytes" in alts(with_idle)
    assert with_idle is not None
    assert "is taken off" in with_idle.caption
    without = pods(arms_of(tmp_path / "b", one), simulated=False)
    assert "leader: 100 ms" in alts(without)
    assert without is not None
    assert "is in it" in without.caption
    assert pods(arms_of(tmp_path / "c", repeat(1, engine=REAL)), simulated=False) is None


def test_gaps_of_two_modes_have_both(tmp_path: Path) -> None:
    arms = arms_of(tmp_path, repeat(1, reply(gaps_s=(0.02, 0.04) * 20), engine=REAL, topology=SPLIT))
    shares = tuple(
        ModeShare(name=name, count=20, of=40, gap_s=gap, low_s=gap, high_s=gap)
        for name, gap in (("one batch", 0.04), ("two batches in flight", 0.02))
    )
    modes = Modes(
        topology=arms[0].label, cell="one-user", between=True, cause="c", basis="b", remedy="r", shares=shares
    )
    said = alts(gaps(arms, [modes], simulated=False))
    assert "has a mode, one batch, at 40.0 ms, 20 of 40" in said
    assert "two batches in flight, at 20.0 ms" in said
    assert "half of 40 gaps" in said


def test_gaps_that_are_all_alike_can_be_drawn(tmp_path: Path) -> None:
    arms = arms_of(tmp_path, repeat(1, reply(gaps_s=(0.25,) * 10), engine=REAL))
    assert "99 of 100 at most 250 ms" in alts(gaps(arms, [], simulated=False))
    few = arms_of(tmp_path / "few", repeat(1, reply(gaps_s=(0.25,) * 3), engine=REAL))
    assert gaps(few, [], simulated=False) is None


def test_the_crossover_is_a_band_and_a_sentence() -> None:
    arms, verdict = posts("gpu-tp4x1", "gpu-tp2x2")
    chart = load(arms, verdict.crossovers, simulated=False)
    assert "A band from 4 to 16 users: TP=4 x 1 is better below it, TP=2 x 2 above." in alts(chart)
    assert "rises from 200 tokens/s at 1 to 2,900 tokens/s at 128" in alts(chart)
    assert chart is not None
    band = [patch for patch in chart.panels[0].figure.axes[0].patches if patch.get_label() == "they cross in here"]
    assert [(round(one.get_x()), round(one.get_x() + one.get_width())) for one in band] == [(4, 16)]  # type: ignore[attr-defined]
    assert chart.numbers.rows[0][1:4] == ("TP=4 x 1", "1", "200")


def test_one_level_is_a_chart_too_and_no_level_is_none() -> None:
    arms, verdict = posts("1b-single", "1b-split")
    assert "single: 92.0 tokens/s at 8." in alts(load(arms, verdict.crossovers, simulated=False))
    assert prompts(arms, verdict.crossovers, simulated=False) is None


def test_cost_is_drawn_where_an_hour_has_a_price() -> None:
    money = {"TP=2 x 2": Money(topology="TP=2 x 2", usd_per_hour=20.88, source="of this test")}
    arms, verdict = posts("gpu-tp4x1", "gpu-tp2x2", money)
    said = alts(cost(arms, verdict.prices, simulated=False))
    assert "TP=2 x 2 falls from" in said
    assert "to 1.00 USD at 128" in said
    assert "TP=4 x 1" not in said
    assert cost(arms, (), simulated=False) is None


def test_a_rate_at_which_the_objective_broke_is_hollow(tmp_path: Path) -> None:
    records = []
    for rate, first in ((0.1, 0.5), (0.2, 9.0)):
        test = Profiles(kind="profiles", profiles=("chat",), rates=(rate,), seconds=10)
        records.append(of(test, 1, request(stream(1000.0, first, *[0.125] * 9)), topology=SINGLE))
    chart = goodput(arms_of(tmp_path, *records), simulated=False)
    assert chart is not None
    marks = chart.panels[0].figure.axes[0].lines
    hollow = [line for line in marks if line.get_markerfacecolor() == palette.PAPER.light]
    assert [float(np.asarray(line.get_xdata())[0]) for line in hollow] == [pytest.approx(0.2, abs=0.01)]


def test_what_is_simulated_says_so_in_the_picture(tmp_path: Path) -> None:
    arms = arms_of(tmp_path, repeat(1, reply(gaps_s=(0.25,) * 10)))
    for simulated in (True, False):
        chart = gaps(arms, [], simulated=simulated)
        assert chart is not None
        texts = [text.get_text() for text in chart.panels[0].figure.texts]
        assert ("simulated" in texts) == simulated
