"""The comment."""

import json
from datetime import UTC, datetime
from functools import cache
from typing import Any

from experiment.plan.plan import ExperimentPlan, make
from experiment.settings import load
from review.difference import changed
from review.headlines import Headline
from review.markdown import LONGEST, MARK, as_markdown
from review.stackreview import StackReview
from tests.recording import STACKS, stack_settings
from tests.review.steps import step

NOW = datetime(2026, 12, 1, 12, tzinfo=UTC)
STACK = "gemma-1b-split"


@cache
def tracked(name: str) -> ExperimentPlan:
    return plan(name)


def plan(name: str = STACK, **changes: Any) -> ExperimentPlan:
    end = {} if name.startswith("rehearsal") else {"end_date": "2026-12-01T20:00:00Z"}
    return make(load(json.dumps(stack_settings(name) | end | changes), NOW), NOW)


def review(name: str = STACK, **more: Any) -> StackReview:
    whole: dict[str, Any] = {
        "before": tracked(name), "after": tracked(name), "removed": False, "settings": (), "headlines": (), "steps": (),
        "basis": "By hand.", "wrong": (),
    }  # fmt: skip
    return StackReview(name=name, **whole | more)


def test_a_change_of_nodes_is_told_in_dollars_and_placement() -> None:
    nodes = {**stack_settings(STACK)["nodes"], "engine": {"instance": "m7g.4xlarge", "count": 2, "disk_gib": 100}}
    before, after = plan(), plan(nodes=nodes)
    said = as_markdown(
        [
            review(
                after=after,
                headlines=(Headline("nodes-replaced", "The engine nodes are replaced."),),
                steps=(step("replace", "aws:eks/nodeGroup:NodeGroup", "engine-nodes", reasons=("instanceTypes",)),),
                settings=changed({"nodes": {"engine": {"instance": "a"}}}, {"nodes": {"engine": {"instance": "b"}}}),
            )
        ],
        "main",
    )
    assert before.money is not None
    assert after.money is not None
    assert said.startswith(f"{MARK}\n## Splitbed: 1 stack\n\n- **{STACK}**: The engine nodes are replaced.\n")
    difference = after.money.hour_usd - before.money.hour_usd
    assert f"| an hour | {before.money.hour_usd:.2f} | {after.money.hour_usd:.2f} | **+{difference:.2f}** |" in said
    assert "| engine-1 to 2 | m7g.2xlarge: engine" in said
    assert "| `nodes.engine.instance` | a | b |" in said
    assert "What the engine would do: 1 replace" in said
    assert "| replace | NodeGroup | `engine-nodes` | `instanceTypes` |" in said
    assert "<sub>Compared with `main` by `splitbed review`.</sub>" in said


def test_what_stays_as_it_was_is_one_line() -> None:
    said = as_markdown([review(name) for name in STACKS], "main")
    assert f"## Splitbed: 0 of {len(STACKS)} stacks change\n" in said
    assert f"Unchanged: {', '.join(STACKS)}." in said
    assert "###" not in said


def test_no_stack_at_all_is_said() -> None:
    assert "## Splitbed: no stack is touched" in as_markdown([], "main")


def test_what_is_refused_stands_at_the_top() -> None:
    after = plan(budget={"usd": 1})
    said = as_markdown([review(after=after, wrong=after.stops), review("gemma-1b-single")], "main")
    assert said.splitlines()[1] == f"## Splitbed: 1 of 2 stacks change, {STACK} refused"
    assert f"- **{STACK}**: **refused** over-budget: " in said
    assert f"### {STACK}: refused" in said


def test_what_a_person_wrote_is_no_markup() -> None:
    said = as_markdown(
        [review(settings=changed({"purpose": "x"}, {"purpose": "<img src=x> @everybody | [a](b)"}))], "main"
    )
    assert "<img" not in said.replace("\\<img", "")
    assert "@everybody" not in said


def test_tags_alone_are_counted() -> None:
    steps = tuple(step("update", "aws:ec2/vpc:Vpc", f"v{one}", changed=("tags", "tagsAll")) for one in range(30))
    said = as_markdown([review(steps=steps)], "main")
    assert "What the engine would do: 30 update" in said
    assert "Tags alone change on 30 more." in said
    assert "`v1`" not in said


def test_a_comment_is_never_too_long() -> None:
    many = tuple(step("replace", "aws:ec2/vpc:Vpc", f"{'v' * 60}{one}", reasons=(f"r{one}",)) for one in range(20))
    stacks = [review(name, steps=many) for name in STACKS] * 2
    said = as_markdown(stacks, "main")
    assert len(said) <= LONGEST
    assert "Plans are left out: too long." in said
    hopeless = as_markdown(stacks * 3, "main")
    assert len(hopeless) <= LONGEST
    assert hopeless.startswith(MARK)
    assert "Too long for a comment: the rest is left out." in hopeless


def test_json_has_the_dollars_and_the_steps() -> None:
    found = review(steps=(step("replace", "aws:ec2/vpc:Vpc", "v", reasons=("cidrBlock",)),)).to_json()
    assert json.loads(json.dumps(found))["steps"][0]["reasons"] == ["cidrBlock"]
    dollars: Any = found["dollars"]
    assert dollars["an hour"]["before"] == dollars["an hour"]["after"] > 0
