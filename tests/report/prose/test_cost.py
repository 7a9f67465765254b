"""1B post: 37 percent more CPU a token, 5.9 of 6 cores or 2.4 in each pod, 4.5 KB a prompt token, 10 KB a token."""

import pytest

from experiment.record import RepeatRecord
from report.prose import cost
from tests.report.prose.runs import pod, record, reply

IDLE_CORES, IDLE_BYTES = 0.1, 1000
"""Of each pod, a second."""


def run(pods: dict[str, float]) -> list[RepeatRecord]:
    """Return an idle test and one reply of 200 tokens, with the cores that each pod keeps busy in its 10 s."""
    idle = [pod(name, 60.0, cpu_s=60 * IDLE_CORES, moved_bytes=60 * IDLE_BYTES) for name in pods]
    busy = [pod(name, 10.0, cpu_s=10 * cores) for name, cores in pods.items()]
    return [
        record("idle", 1, [], pods=idle),
        record("one-user", 1, [reply(64, 200, ttft_s=0.2, token_s=0.05)], pods=busy),
    ]


def test_a_token_of_the_split_costs_a_third_more_cpu() -> None:
    single = cost.cpu_per_token_s(run({"a-0": 5.9}))
    split = cost.cpu_per_token_s(run({"a-0": 4.08, "a-0-1": 4.08}))
    assert single == pytest.approx((59 - 1) / 200), "less what the pod takes idle"
    assert split == pytest.approx((81.6 - 2) / 200), "of both pods"
    assert single is not None
    assert split is not None
    assert split / single == pytest.approx(1.37, abs=0.005)


def test_how_many_cores_each_pod_keeps_busy() -> None:
    assert cost.cores_busy(run({"a-0": 5.9})) == pytest.approx({"a-0": 5.9})
    assert cost.cores_busy(run({"a-0": 2.4, "a-0-1": 2.4})) == pytest.approx({"a-0": 2.4, "a-0-1": 2.4})
    assert cost.cores_busy(run({"a-0": 3.2, "a-0-1": 3.2}), "concurrency") == {}


def test_without_an_idle_baseline_or_with_an_unseen_pod_there_is_no_cost() -> None:
    idle, busy = run({"a-0": 2.4, "a-0-1": 2.4})
    assert cost.cpu_per_token_s([busy]) is None
    unseen = busy.model_copy(update={"figures": busy.figures.model_copy(update={"pods": busy.figures.pods[:1]})})
    assert cost.cpu_per_token_s([idle, unseen]) is None


def moved(kind: str, number: int, prompt: int, output: int) -> RepeatRecord:
    """Return a repeat in which the leader also sends its client ten times as much."""
    over = 4500 * prompt + 10_000 * output + 10 * IDLE_BYTES
    pods = [pod("a-0", 10.0, moved_bytes=10 * over), pod("a-0-1", 10.0, moved_bytes=over)]
    return record(kind, number, [reply(prompt, output, ttft_s=1, token_s=0.05)], pods=pods, value=prompt)


IDLE = run({"a-0": 0.0, "a-0-1": 0.0})[0]


def test_what_moves_between_the_pods_of_a_split() -> None:
    long, short = moved("prompt-length", 1, 3500, 2), moved("prompt-length", 1, 500, 2)
    found = cost.traffic([IDLE, long, short, moved("one-user", 1, 64, 200)])
    assert found is not None
    assert found.per_prompt_token == pytest.approx(4500)
    assert found.per_generated_token == pytest.approx(10_000)


def test_one_kind_of_test_alone_cannot_tell_prompt_from_reply() -> None:
    assert cost.traffic([IDLE, moved("one-user", 1, 64, 200), moved("one-user", 2, 64, 200)]) is None


def test_without_an_idle_baseline_there_is_no_traffic() -> None:
    assert cost.traffic([moved("one-user", 1, 64, 200), moved("prompt-length", 2, 500, 2)]) is None


def test_a_single_pod_sends_no_other_anything() -> None:
    assert cost.traffic(run({"a-0": 5.9})) is None
