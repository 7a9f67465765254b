import pytest
from pydantic import ValidationError

from experiment.workload import OneUser, Plan

PLAN = Plan(
    run="1",
    model="gemma",
    seed=7,
    tests=(OneUser(kind="one-user"), OneUser(kind="one-user", name="long", prompt_tokens=2000, repeats=3)),
    request_timeout_s=60,
    ready_timeout_s=100.5,
)


def test_a_plan_survives_its_text() -> None:
    assert Plan.model_validate_json(PLAN.to_json()) == PLAN


def test_the_hash_is_the_same_on_every_machine_and_day() -> None:
    assert PLAN.hash == "8036655b79f5"


def test_the_hash_depends_on_content_alone() -> None:
    text = (
        '{"ready_timeout_s": 100.5, "request_timeout_s": 60.0, "tests": [{"kind": "one-user"}, '
        '{"repeats": 3, "prompt_tokens": 2000, "name": "long", "kind": "one-user"}], '
        '"seed": 7, "model": "gemma", "run": "1"}'
    )
    assert Plan.model_validate_json(text).hash == PLAN.hash


@pytest.mark.parametrize(
    "change", [{"run": "2"}, {"model": "llama"}, {"seed": 8}, {"tests": PLAN.tests[:1]}, {"request_timeout_s": 61.0}]
)
def test_the_hash_changes_with_every_part(change: dict[str, object]) -> None:
    assert PLAN.model_copy(update=change).hash != PLAN.hash


def test_the_longest_time_counts_every_request_at_its_timeout() -> None:
    assert PLAN.longest_s == 100.5 + 60 * (8 + 3)


@pytest.mark.parametrize(
    ("tests", "why"),
    [("[]", "nothing to measure"), ('[{"kind": "one-user"}, {"kind": "one-user"}]', "both named one-user")],
)
def test_a_plan_needs_tests_that_can_be_told_apart(tests: str, why: str) -> None:
    head = '{"run": "1", "model": "m", "seed": 0, "request_timeout_s": 1, "ready_timeout_s": 1, "tests": '
    with pytest.raises(ValidationError, match=why):
        Plan.model_validate_json(f"{head}{tests}}}")
