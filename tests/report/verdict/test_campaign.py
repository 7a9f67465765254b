"""Campaigns on the stand-in's timing model, recorded as if of a real engine: the words against what is true."""

from pathlib import Path

import pytest

from experiment.errors import SplitbedError
from report.statistics.design import Design
from report.verdict.comparison import Comparison
from report.verdict.reading import Named, read
from report.verdict.verdict import Verdict, judge
from tests.report.verdict.standin import SINGLE, SPLIT, campaign

pytestmark = pytest.mark.thorough

POSTS = {"s": ("post-1b-single", 1, SINGLE), "p": ("post-1b-split", 2, SPLIT)}
SAME = {"s": ("post-1b-single", 1, SINGLE), "p": ("post-1b-single", 1, SINGLE | {"tensor": 2})}
TURNS = "sppssppsspps"


def judged(directory: Path, design: Design | None = None) -> Verdict:
    return judge(read([Named(directory)]), design or Design(), {})


def deciding(found: Verdict) -> dict[str, Comparison]:
    return {one.cell: one for one in found.comparisons if one.judged}


def test_a_split_that_is_slower_for_one_user_is_said_to_be(tmp_path: Path) -> None:
    campaign(tmp_path, TURNS, POSTS)
    found = judged(tmp_path)
    one = deciding(found)["one-user"]
    assert (one.word, one.withheld) == ("slower", ())
    assert one.difference is not None
    assert one.difference.paired
    assert (one.first.topology, one.second.topology) == ("single (tensor 1)", "split (pipeline 2, tensor 1)")
    assert (one.first.runs, one.first.repeats) == (6, 12)
    # A token alone takes 44.9 + 2.5 ms on one; on two the same, two hops of 5 ms, and what a schedule takes.
    assert one.difference.low is not None
    assert one.difference.high is not None
    assert one.difference.low < 47.4 / 57.4 - 1 < one.difference.high
    assert found.method.family == 3
    assert one.difference.level == pytest.approx(1 - 0.05 / 3)
    assert 0 < (one.difference.detectable or 0) < 0.05
    assert next(one for one in found.choices if one.cell == "one-user").sure == "shown"


def test_where_nothing_differs_no_difference_is_shown(tmp_path: Path) -> None:
    campaign(tmp_path, TURNS, SAME)
    found = deciding(judged(tmp_path))
    assert {one.word for one in found.values()} == {"no difference shown"}
    assert all(one.difference is not None and (one.difference.detectable or 0) > 0 for one in found.values())


def test_drift_cancels_in_pairs_and_is_named_where_it_does_not(tmp_path: Path) -> None:
    campaign(tmp_path / "turns", "sppssppsspps", SAME, users=(1,), scatter=0.002)
    campaign(tmp_path / "blocks", "ssssssspppppp"[1:], SAME, users=(1,), scatter=0.002)
    turns, blocks = judged(tmp_path / "turns"), judged(tmp_path / "blocks")
    assert deciding(turns)["one-user"].word == "no difference shown"
    assert deciding(blocks)["one-user"].word == "slower"  # which is the drift
    assert not any("did not take turns" in one for one in turns.cautions)
    assert any("did not take turns" in one for one in blocks.cautions)


def test_simulated_results_are_shown_and_not_judged(tmp_path: Path) -> None:
    campaign(tmp_path, TURNS, POSTS, users=(1,), simulated=True)
    found = judged(tmp_path)
    one = deciding(found)["one-user"]
    assert one.word is None
    assert one.withheld[0].startswith("simulated")
    assert one.difference is not None
    assert one.difference.low is not None
    assert found.cautions[0].startswith("Nothing is judged: simulated")
    assert all(subject.simulated for subject in found.subjects)


def test_two_runs_of_each_are_too_few(tmp_path: Path) -> None:
    campaign(tmp_path, "spps", POSTS, users=(1,))
    one = deciding(judged(tmp_path))["one-user"]
    assert (one.word, one.withheld) == (None, ("2 runs of a topology, and it takes 3 to judge",))
    assert one.difference is not None
    assert one.difference.low is not None


def test_repeats_are_no_runs(tmp_path: Path) -> None:
    campaign(tmp_path, "sp", POSTS, users=(1,), repeats=12)
    one = deciding(judged(tmp_path))["one-user"]
    assert (one.first.runs, one.first.repeats, one.word) == (1, 12, None)


def test_looking_more_often_takes_wider_intervals_and_more_runs_than_planned_are_refused(tmp_path: Path) -> None:
    campaign(tmp_path, TURNS, POSTS, users=(1,))
    once, often = (deciding(judged(tmp_path, Design(looks=looks)))["one-user"] for looks in ((), (3, 6, 8)))
    assert once.difference is not None
    assert often.difference is not None
    assert once.difference.level == pytest.approx(0.95)
    assert often.difference.level == pytest.approx(1 - 0.05 / 3)
    with pytest.raises(SplitbedError, match="6 runs of each"):
        judged(tmp_path, Design(looks=(3, 4)))


def test_a_run_that_was_copied_tells_nothing_of_chance(tmp_path: Path) -> None:
    campaign(tmp_path, "sppsspps", SAME, users=(1,), scatter=0)
    for path in tmp_path.rglob("*.json"):
        turn = int(path.parts[-3].removeprefix("turn-"))
        source = next((tmp_path / f"turn-{1 if turn in (1, 2, 5, 6) else 0}" / "hash").glob(path.name)).read_text()
        path.write_text(source.replace(f'"run": "turn-{1 if turn in (1, 2, 5, 6) else 0}"', f'"run": "turn-{turn}"'))
    one = deciding(judged(tmp_path))["one-user"]
    assert one.word is None
    assert one.withheld == ("the runs do not scatter at all, as if one had been copied: nothing can be told of chance",)
