"""From a stack file and a person's words to a campaign."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from campaign import topologies
from campaign.beginning import JOURNAL, prepared
from campaign.journal import Begun
from campaign.outline import lines
from campaign.question import Question
from experiment.errors import SplitbedError
from stackfiles.stackfile import StackFile
from tests.campaign.conftest import BEGAN

END = BEGAN + timedelta(days=2)
UNTIL: dict[str, Any] = {"end_date": END.isoformat(), "budget.usd": 60, "accept": []}


def question(stack: str = "gemma-1b-split", **changes: Any) -> Question:
    file = StackFile.of(stack).replaced(changes)
    return Question(stack, file, topologies.parsed(["single", "split"]), seed=0, looks=(4, 6, 8), difference=0.1)


def test_prices_times_and_limits_are_the_plans(tmp_path: Path) -> None:
    asked = question(**UNTIL)
    found = prepared(asked, tmp_path, BEGAN, end="none", budget_usd=20)
    assert found.limits.hour_usd == pytest.approx(found.money["single"].usd_per_hour)
    assert (found.limits.budget_usd, found.limits.end) == (20, END)
    assert [one.basis for one in found.forecast.planned] == ["planned", "planned"]
    # The plan's steps of that name: 618 s for the cluster, 119 for its nodes, by public logs.
    assert found.forecast.ground_s == 737
    assert list(tmp_path.iterdir()) == [], "nothing is written before it begins"


def test_the_outline_says_what_will_be_done_and_what_that_costs(tmp_path: Path) -> None:
    asked = question(**UNTIL)
    found = prepared(asked, tmp_path, BEGAN, end="none", budget_usd=3)
    outline = found.outline(BEGAN)
    assert [look.turns for look in outline.looks] == [8, 12, 16]
    assert all(
        one.usd is not None and other.usd is not None and one.usd < other.usd
        for one, other in zip(outline.looks, outline.looks[1:], strict=False)
    )
    said = "\n".join(lines(outline))
    assert "A: single; a turn takes about" in said
    assert "not reached as things stand: the budget is near" in said
    assert "the nodes stay and cost" in said
    assert "--end destroy takes all down" in said
    assert "split-fits-one-pod is accepted" in said


def test_to_split_what_fits_one_pod_is_the_question_where_single_is_there_too(tmp_path: Path) -> None:
    prepared(question(**UNTIL), tmp_path, BEGAN, end="none")
    alone = replace(question(**UNTIL), topologies=topologies.parsed(["split", "replicas"]))
    stopped = r"split \(pipeline 2\) would be stopped by its plan:\n  split-fits-one-pod"
    with pytest.raises(SplitbedError, match=stopped):
        prepared(alone, tmp_path, BEGAN, end="none")


def test_a_topology_that_does_not_go_is_named(tmp_path: Path) -> None:
    asked = replace(
        question("rehearsal-single"), topologies=topologies.parsed(["single", "{kind: split, pipeline: 9}"])
    )
    said = r"With topology split \(pipeline 9\), .*\n.*topology.pipeline: found 9"
    with pytest.raises(SplitbedError, match=said):
        prepared(asked, tmp_path, BEGAN, end="none")


def test_a_budget_without_prices_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SplitbedError, match="pays for nothing itself"):
        prepared(question("rehearsal-single"), tmp_path, BEGAN, end="none", budget_usd=5)


def test_a_stack_that_measures_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SplitbedError, match="no benchmark is set"):
        prepared(question("rehearsal-single", benchmark=None), tmp_path, BEGAN, end="none")


def begun(directory: Path, asked: Question) -> None:
    found = prepared(asked, directory, BEGAN, end="none")
    found.journal.add(Begun(campaign=found.campaign))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"seed": 7}, "seed 0, not 7"),
        ({"looks": (3,)}, "looks 4, 6, 8, not 3"),
        ({"topologies": topologies.parsed(["split", "single"])}, r"topologies single and split \(pipeline 2\), not"),
        ({"file": StackFile.of("rehearsal-split")}, "other settings of the stack: its file was changed since"),
    ],
)
def test_another_question_is_not_mixed_into_a_campaign(tmp_path: Path, changes: dict[str, object], said: str) -> None:
    asked = question("rehearsal-single")
    begun(tmp_path, asked)
    with pytest.raises(SplitbedError, match=said):
        prepared(replace(asked, **changes), tmp_path, BEGAN, end="none")  # type: ignore[arg-type]


def test_the_end_date_may_move_meanwhile_and_the_way_it_ends_may_be_chosen_anew(tmp_path: Path) -> None:
    begun(tmp_path, question("rehearsal-single"))
    later = BEGAN + timedelta(hours=1)
    moved = question("rehearsal-single", end_date=END.isoformat(), topology={"kind": "none"}, accept=[])
    found = prepared(moved, tmp_path, later, end="destroy")
    assert found.campaign.begun_at == BEGAN
    assert found.limits.end == END


def test_there_is_no_verdict_before_each_topology_was_measured(tmp_path: Path) -> None:
    begun(tmp_path, question("rehearsal-single"))
    found = prepared(question("rehearsal-single"), tmp_path, BEGAN, end="none")
    assert found.verdict() is None
    assert (tmp_path / JOURNAL).exists()
