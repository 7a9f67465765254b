"""What the posts measured, typed with its source, comes out as they say, or as their tables do."""

from pathlib import Path

import pytest

from report.statistics.design import Design
from report.verdict.capacity import Money
from report.verdict.comparison import Comparison
from report.verdict.reading import Named, read
from report.verdict.verdict import Verdict, judge

DATA = Path(__file__).parent / "data"


def verdict(first: str, second: str, money: dict[str, Money] | None = None) -> Verdict:
    return judge(read([Named(DATA / f"post-{first}.json"), Named(DATA / f"post-{second}.json")]), Design(), money or {})


def deciding(found: Verdict, cell: str) -> Comparison:
    (one,) = [one for one in found.comparisons if one.cell == cell and one.judged]
    return one


def test_the_single_pod_is_a_fifth_faster_for_one_user() -> None:
    one = deciding(verdict("1b-split", "1b-single"), "one-user")
    assert one.difference is not None
    assert one.difference.change == pytest.approx(0.21)
    assert one.speed == pytest.approx(1.21)


def test_the_splits_freeze_is_longer_by_two_thirds() -> None:
    one = deciding(verdict("1b-single", "1b-split"), "interference-3500")
    assert one.first.middle == pytest.approx(3.415, abs=0.01)
    assert one.second.middle == pytest.approx(5.67, abs=0.01)
    assert one.difference is not None
    assert one.difference.change == pytest.approx(5.67 / 3.415 - 1, abs=0.002)
    assert one.speed is not None
    assert one.speed < 1


def test_eight_users_get_92_against_84_tokens_a_second() -> None:
    one = deciding(verdict("1b-single", "1b-split"), "concurrency-8")
    assert one.first.middle == pytest.approx(92)
    assert one.second.middle == pytest.approx(84)


def test_one_deployment_of_each_describes_and_does_not_judge() -> None:
    found = verdict("1b-single", "1b-split")
    assert all(one.word is None for one in found.comparisons)
    assert all(one.difference is not None and one.difference.low is None for one in found.comparisons)
    assert {one.withheld for one in found.comparisons if one.judged} == {
        ("one run of a topology, which describes and does not judge",)
    }
    assert {one.sure for one in found.choices} == {"described only"}
    assert "described, not judged" in found.answer[0]


def test_the_posts_advice_by_workload() -> None:
    found = {one.workload: one.topology for one in verdict("1b-single", "1b-split").choices}
    assert found == {
        "one user at a time, who reads along": "single",
        "long prompts, short replies": "split",
        "few users at once (8 users)": "single",
        "users whose streams must not freeze when others send long prompts (3500 prompt tokens)": "single",
    }


def test_the_gpu_posts_table_crosses_between_4_and_16() -> None:
    found = verdict("gpu-tp4x1", "gpu-tp2x2")
    (crossing,) = found.crossovers
    (bracket,) = crossing.brackets
    assert (bracket.low, bracket.high) == (4, 16)  # its text says 16 to 32
    assert (bracket.better_before, bracket.better_after) == ("TP=4 x 1", "TP=2 x 2")
    assert crossing.basis == "described"
    choices = {one.workload: one.topology for one in found.choices}
    assert choices["one user at a time, who reads along"] == "TP=4 x 1"
    assert choices["many users at once, or batches (128 users)"] == "TP=2 x 2"


def test_what_a_million_tokens_cost() -> None:
    hour = Money(topology="TP=2 x 2", usd_per_hour=20.88, source="of this test")
    found = {one.cell: one for one in verdict("gpu-tp4x1", "gpu-tp2x2", {"TP=2 x 2": hour}).prices}
    assert found["concurrency-128"].usd_per_million == pytest.approx(1.0)  # 5800 x 3600 tokens are 20.88 million
    assert found["concurrency-128"].low is None
    assert set(found) == {f"concurrency-{users}" for users in (1, 4, 16, 32, 64, 128)}
