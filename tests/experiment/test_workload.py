import pytest
from pydantic import ValidationError

from experiment.kinds.alone import Idle, OneUser, PromptLength
from experiment.kinds.base import Work
from experiment.kinds.loads import Concurrency, OpenLoop
from experiment.kinds.profiles import MIXES, Profiles
from experiment.kinds.sharing import FollowUp, Interference, Modes
from experiment.posts import TESTS, posts_plan
from experiment.workload import Plan

PLAN = Plan(
    run="1",
    model="gemma",
    seed=7,
    tests=(OneUser(kind="one-user"), OneUser(kind="one-user", name="long", prompt_tokens=2000, repeats=3)),
    request_timeout_s=60,
    ready_timeout_s=100.5,
)
HEAD = '{"run": "1", "model": "m", "seed": 0, "request_timeout_s": 1, "ready_timeout_s": 1, "tests": '


@pytest.mark.parametrize("plan", [PLAN, posts_plan("gemma")])
def test_a_plan_survives_its_text(plan: Plan) -> None:
    assert Plan.model_validate_json(plan.to_json()) == plan


def test_the_hash_is_the_same_on_every_machine_and_day() -> None:
    assert PLAN.hash == "2a522ff5aea9"


def test_the_hash_depends_on_content_alone() -> None:
    text = (
        '{"ready_timeout_s": 100.5, "request_timeout_s": 60.0, "tests": [{"kind": "one-user"}, '
        '{"repeats": 3, "prompt_tokens": 2000, "name": "long", "kind": "one-user"}], '
        '"seed": 7, "model": "gemma", "run": "1"}'
    )
    assert Plan.model_validate_json(text).hash == PLAN.hash


@pytest.mark.parametrize(
    "change",
    [
        {"run": "2"},
        {"model": "llama"},
        {"seed": 8},
        {"tests": PLAN.tests[:1]},
        {"request_timeout_s": 61.0},
        {"order": "listed"},
        {"tolerated": 0.1},
    ],
)
def test_the_hash_changes_with_every_part(change: dict[str, object]) -> None:
    assert PLAN.model_copy(update=change).hash != PLAN.hash


def test_the_longest_time_counts_every_request_at_its_timeout() -> None:
    assert PLAN.longest_s == 100.5 + 60 * (8 + 3)


def test_the_longest_time_counts_users_once_and_their_turns_and_waits_each() -> None:
    tests = (
        Concurrency(kind="concurrency", users=(2, 8), requests=3, repeats=2),
        Idle(kind="idle", seconds=30),
        OpenLoop(kind="open-loop", rates=(0.5,), seconds=100, repeats=1),
    )
    assert PLAN.model_copy(update={"tests": tests}).longest_s == 100.5 + 60 * (2 * 2 * 3) + 30 + 160


@pytest.mark.parametrize(
    ("tests", "why"),
    [
        ("[]", "nothing to measure"),
        ('[{"kind": "one-user"}, {"kind": "one-user"}]', "both named one-user"),
        (
            '[{"kind": "one-user", "name": "load-8"}, {"kind": "concurrency", "name": "load", "users": [8]}]',
            "both be named load-8",
        ),
        ('[{"kind": "concurrency", "users": []}]', "nothing is given"),
        ('[{"kind": "concurrency", "users": [4, 2, 4]}]', "4 is given twice"),
        ('[{"kind": "concurrency", "users": [0]}]', "greater than or equal to 1"),
        ('[{"kind": "open-loop", "rates": [0]}]', "greater than 0"),
        ('[{"kind": "sweep"}]', "does not match any of the expected tags"),
    ],
)
def test_a_plan_needs_tests_that_can_be_told_apart_and_make_sense(tests: str, why: str) -> None:
    with pytest.raises(ValidationError, match=why):
        Plan.model_validate_json(f"{HEAD}{tests}}}")


def order(plan: Plan) -> list[tuple[str, int]]:
    return [(cell.name, number) for _, cell, number in plan.repeats]


def test_rounds_are_shuffled_by_seed_and_hold_one_repeat_of_each_cell() -> None:
    plan = posts_plan("m", seed=1)
    names = order(plan)
    assert order(posts_plan("m", seed=1)) == names
    assert order(posts_plan("m", seed=2)) != names
    assert sorted(names) == sorted(order(plan.model_copy(update={"order": "listed"})))
    assert [number for _, number in names] == sorted(number for _, number in names)
    assert len(set(names)) == len(names)


def test_a_single_test_keeps_the_order_of_its_repeats() -> None:
    assert order(PLAN.model_copy(update={"tests": PLAN.tests[:1]})) == [("one-user", number) for number in range(1, 9)]


def test_the_plan_of_the_posts_is_what_they_say_they_did() -> None:
    work = {cell.name: (cell.repeats, cell.work) for test in TESTS for cell in test.cells}
    assert work["one-user"] == (8, (Work(1, 64, 200),))
    assert work["prompt-length-3500"][0] == 3
    assert [cell for cell in work if cell.startswith("concurrency-")] == [
        f"concurrency-{users}" for users in (1, 2, 3, 4, 6, 8)
    ]
    assert work["interference-3500"] == (3, (Work(1, 64, 256), Work(1, 3500, 2)))
    follow_up = next(test for test in TESTS if isinstance(test, FollowUp))
    assert follow_up.second_tokens == 2847, "1B post: 2,816 of 2,847 prompt tokens"
    assert work["idle"] == (1, ())


def test_what_a_test_sends_counts_all_repeats_and_users() -> None:
    (four,) = Concurrency(kind="concurrency", users=(4,), requests=2, repeats=3).work
    assert four == Work(24, 64, 200)
    assert Interference(kind="interference", repeats=1).work == (Work(1, 64, 256), Work(1, 3500, 2))
    assert PromptLength(kind="prompt-length", prompt_tokens=(10, 20), repeats=2).work == (
        Work(2, 10, 2),
        Work(2, 20, 2),
    )
    assert Modes(kind="modes", streams=3, starts=("returning",), repeats=1).work == (Work(2, 16, 80), Work(2, 16, 40))


def test_a_mix_is_shared_out_by_weight() -> None:
    (cell,) = Profiles(kind="profiles", profiles=("chat",), rates=(0.5,), seconds=120).cells
    assert cell.name == "profiles-chat-0-5"
    assert [work.requests for work in cell.work] == [30, 20, 10]
    assert [work.prompt_tokens for work in cell.work] == [share.prompt_tokens for share in MIXES["chat"]]
