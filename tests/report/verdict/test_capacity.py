from pathlib import Path

import pytest

from experiment.measure.endurance import GoodputFigures
from experiment.record import RepeatRecord
from report.statistics.design import Design
from report.verdict import words
from report.verdict.capacity import Money, capacities, per_million
from report.verdict.crossover import crossovers
from report.verdict.reading import Named, read
from report.verdict.verdict import judge
from tests.benchmark.records import REAL, repeat
from tests.report.verdict.standin import SINGLE, SPLIT

HOUR = Money(topology="single (tensor 1)", usd_per_hour=0.36, source="of this test")


def profile(
    run: str, number: int, rate: float, tokens_per_s: float, *, kept: bool, split: bool = False
) -> RepeatRecord:
    base = repeat(number)
    good = GoodputFigures(good=9, share=0.9, kept=kept, requests_per_s=rate, tokens_per_s=tokens_per_s)
    return repeat(
        number, run=run, test="profiles", test_kind="profiles", cell=f"profiles-chat-{rate:g}", value=f"chat {rate:g}",
        engine=REAL, topology=SPLIT if split else SINGLE, figures=base.figures.model_copy(update={"goodput": good}),
    )  # fmt: skip


def write(directory: Path, *records: RepeatRecord) -> Named:
    directory.mkdir(parents=True, exist_ok=True)
    for number, record in enumerate(records):
        (directory / f"{number}.json").write_text(record.to_json())
    return Named(directory)


def test_the_highest_rate_is_what_every_run_kept(tmp_path: Path) -> None:
    place = write(
        tmp_path,
        profile("a", 1, 0.1, 10, kept=True), profile("a", 1, 0.2, 19, kept=True), profile("a", 1, 0.4, 15, kept=False),
        profile("b", 1, 0.1, 12.1, kept=True), profile("b", 1, 0.2, 17, kept=False), profile("b", 1, 0.4, 9, kept=True),
    )  # fmt: skip
    (found,) = capacities(read([place]).arms, {HOUR.topology: HOUR})
    assert (found.profile, found.runs, found.rates) == ("chat", 2, (0.1, 0.2, 0.4))
    assert found.highest == (0.2, 0.1)
    assert found.rate == 0.1
    assert found.goodput_tokens_per_s == pytest.approx(11)  # the root of 10 x 12.1
    assert found.usd_per_million == pytest.approx(0.36 / 3600 / 11 * 1e6)
    said = words.capacity(found)
    assert "0.1 requests/s kept by every run: 11.0 tokens/s" in said
    assert "By run: 0.2, 0.1; tried: 0.1, 0.2, 0.4" in said


def test_a_run_that_kept_no_rate_leaves_no_rate(tmp_path: Path) -> None:
    place = write(tmp_path, profile("a", 1, 0.1, 10, kept=False), profile("b", 1, 0.1, 10, kept=True))
    (found,) = capacities(read([place]).arms, {})
    assert (found.rate, found.goodput_tokens_per_s, found.usd_per_million) == (None, None, None)
    assert "not every run kept the objective" in words.capacity(found)


def test_the_highest_that_was_tried_is_named_as_such(tmp_path: Path) -> None:
    (found,) = capacities(read([write(tmp_path, profile("a", 1, 0.1, 10, kept=True))]).arms, {})
    assert "(the highest that was tried)" in words.capacity(found)


def test_profiles_cross_and_are_chosen_by_their_goodput(tmp_path: Path) -> None:
    place = write(
        tmp_path,
        profile("a", 1, 0.1, 10, kept=True), profile("a", 1, 0.4, 15, kept=True),
        profile("b", 1, 0.1, 8, kept=True, split=True), profile("b", 1, 0.4, 20, kept=True, split=True),
    )  # fmt: skip
    found = judge(read([place]), Design(), {})
    (crossing,) = crossovers(found.comparisons)
    assert (crossing.profile, crossing.said, crossing.over) == ("chat", "found", "requests a second")
    assert [(one.low, one.high) for one in crossing.brackets] == [(0.1, 0.4)]
    (choice,) = found.choices
    assert (choice.workload, choice.topology, choice.sure) == (
        "profile chat",
        "split (pipeline 2, tensor 1)",
        "described only",
    )


def test_a_million_tokens() -> None:
    assert per_million(3.6, 1000) == pytest.approx(1.0)
