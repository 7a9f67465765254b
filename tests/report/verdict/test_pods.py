"""What pods take, in figures and in words; the counts are made up, the sums are exact."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from experiment.measure.figures import TestFigures
from experiment.measure.load import LoadFigures
from experiment.measure.pods import Pod, Pods, uses
from experiment.record import RepeatRecord
from report.compare_markdown import as_markdown
from report.statistics.design import Design
from report.verdict import words
from report.verdict.modes import alternating, strata
from report.verdict.pods import pod_costs
from report.verdict.reading import Arm, Named, Run, read
from report.verdict.samples import Cell
from report.verdict.verdict import judge
from tests.benchmark.records import REAL, WHEN, repeat, reply, request
from tests.experiment.measure.test_pods import counters, pod
from tests.report.verdict.standin import SINGLE, modal
from tests.report.verdict.test_modes import MODES, gaps

ALONE = Cell("one-user", "one-user", "one-user", None)


def measured(number: int, kind: str, cpu_s: float, sent: int, throttled: int = 0, **changes: Any) -> RepeatRecord:
    """A leader and a worker that took this in 20 seconds, of 200 periods; three tokens came, but for the idle test."""
    after = counters(20, used_s=cpu_s, sent=sent, periods=200, throttled_periods=throttled, throttled_s=throttled / 50)
    leader = pod(counters(0), after)
    worker = leader.model_copy(update={"name": "x-0-1", "role": "worker"})
    requests = () if kind == "idle" else (request(changes.pop("outcome", reply())),)
    load = LoadFigures.of(requests) if requests else None
    pods = Pods(pods=(leader, worker))
    tokens = 0 if load is None else load.output_tokens
    figures = TestFigures(load=load, pods=uses(pods, tokens))
    fields: dict[str, Any] = {"test": kind, "test_kind": kind, "cell": kind, "requests": requests, "engine": REAL}
    return repeat(number, **(fields | {"figures": figures, "pods": pods} | changes))


def arm(*records: RepeatRecord) -> Arm:
    return Arm("split", (Run("split", "1", WHEN, records),))


def test_a_token_costs_what_is_left_without_the_idle_baseline() -> None:
    idle, *loads = pod_costs([arm(measured(1, "idle", 2, 200), measured(1, "one-user", 5, 800, throttled=50))])[::2]
    assert (idle.cell, idle.pod, idle.cores, idle.cpu_per_token_s) == ("idle", "leader", 0.1, None)
    (load,) = loads
    assert load.less_idle
    assert load.cpu_per_token_s == pytest.approx((5 - 2) / 3)
    assert load.sent_bytes_per_token == pytest.approx((800 - 200) / 3)
    assert (load.cores, load.throttled_share) == (0.25, 0.25)
    assert load.standing_per_token_s == pytest.approx(1 / 3)


def test_stages_of_one_group_are_not_taken_together() -> None:
    """Of three stages two are workers: one that is held up must not vanish in a median with one that is not."""
    record = measured(1, "one-user", 5, 800)
    leader, worker = record.pods.pods
    slow = pod(counters(0), counters(20, used_s=9, periods=200, throttled_periods=100, throttled_s=2))
    last = slow.model_copy(update={"name": "x-0-2", "role": "worker"})
    pods = Pods(pods=(leader, worker, last))
    figures = record.figures.model_copy(update={"pods": uses(pods, 3)})
    found = pod_costs([arm(record.model_copy(update={"pods": pods, "figures": figures}))])
    assert [(one.pod, one.repeats, one.throttled_share) for one in found] == [
        ("leader", 1, 0.0), ("worker 0-1", 1, 0.0), ("worker 0-2", 1, 0.5),
    ]  # fmt: skip


def test_without_an_idle_test_the_baseline_is_in_it_and_that_is_said() -> None:
    leader, worker = pod_costs([arm(measured(1, "one-user", 6, 900))])
    assert (leader.pod, worker.pod) == ("leader", "worker")
    assert not leader.less_idle
    assert leader.cpu_per_token_s == 2
    assert "idle baseline in it" in words.pod(leader)[4]


def test_replicas_are_told_apart() -> None:
    record = measured(1, "one-user", 6, 900)
    copies = tuple(
        Pod.model_validate(one.model_dump() | {"role": "leader", "group": group})
        for group, one in enumerate(record.pods.pods)
    )
    found = pod_costs([arm(record.model_copy(update={"pods": Pods(pods=copies)}))])
    assert [one.pod for one in found] == ["leader 0", "leader 1"]


def test_a_slow_mode_in_which_pods_are_throttled_is_the_quotas() -> None:
    def run(number: int) -> RepeatRecord:
        slow = number % 3 != 0
        outcome = reply(0.5, gaps(0.160 if slow else 0.065, number))
        return measured(number, "one-user", 5, 800, throttled=120 if slow else 2, outcome=outcome, topology=SINGLE)

    found = strata(arm(*(run(number) for number in range(1, 25))), ALONE)
    assert found is not None
    modes, _ = found
    assert modes.cause == "CPU quota"
    assert "within-quota" in modes.remedy
    fast, slow = modes.shares
    assert (fast.throttled["leader"], slow.throttled["leader"]) == (0.01, 0.6)
    assert slow.standing_s == pytest.approx(2.4 / 21)
    assert "periods throttled: leader 60 %" in words.share(slow)
    assert words.loss(modes).endswith("standing still under the CPU quota in slow: 114.3 ms a token or more")


def test_a_fast_mode_in_which_nobody_counted_is_compared_with_nothing() -> None:
    def run(number: int) -> RepeatRecord:
        slow = number % 3 != 0
        outcome = reply(0.5, gaps(0.160 if slow else 0.065, number))
        record = measured(number, "one-user", 5, 800, throttled=120, outcome=outcome, topology=SINGLE)
        if slow:
            return record
        unseen = record.figures.model_copy(update={"pods": ()})
        return record.model_copy(update={"pods": Pods(), "figures": unseen})

    found = strata(arm(*(run(number) for number in range(1, 25))), ALONE)
    assert found is not None
    assert found[0].cause == "not recorded"


def test_modes_in_which_no_pod_is_throttled_are_not_the_quotas() -> None:
    def run(number: int) -> RepeatRecord:
        outcome = reply(0.5, gaps(0.160 if number % 3 else 0.065, number))
        return measured(number, "one-user", 5, 800, outcome=outcome, topology=SINGLE)

    found = strata(arm(*(run(number) for number in range(1, 25))), ALONE)
    assert found is not None
    assert found[0].cause == "unknown, and not the CPU quota: no pod was throttled"


def test_of_modes_within_repeats_nothing_is_said_of_each() -> None:
    """A pod's periods are counted over the repeat: of 200 ten were throttled, in whichever mode."""

    def run(number: int) -> RepeatRecord:
        both = tuple(gap for pair in zip(gaps(0.065, number), gaps(0.160, -number), strict=True) for gap in pair)
        return measured(number, "one-user", 5, 800, throttled=10, outcome=reply(0.5, both), topology=SINGLE)

    found = alternating(arm(*(run(number) for number in range(1, 7))), ALONE)
    assert found is not None
    assert found.cause == "unknown: pods were throttled in few periods"


def test_of_a_split_in_two_modes_the_lost_overlap_is_told() -> None:
    found = strata(arm(*(modal(4, number, 0.0 if number % 2 else 0.06, number) for number in range(1, 9))), MODES)
    assert found is not None
    modes, _ = found
    merged, apart = modes.shares
    assert modes.lost_overlap_s == pytest.approx(merged.gap_s - apart.gap_s)
    assert modes.lost_overlap_s is not None
    assert modes.lost_overlap_s > 0.005
    assert words.loss(modes).startswith("lost overlap: ")


def test_the_page_has_a_line_for_each_pod(tmp_path: Path) -> None:
    busy = measured(1, "one-user", 5, 800, throttled=50)
    single = busy.model_copy(update={"topology": SINGLE, "run": "2", "started_at": WHEN + timedelta(hours=1)})
    for name, record in (("idle", measured(1, "idle", 2, 200)), ("busy", busy), ("single", single)):
        (tmp_path / f"{name}.json").write_text(record.to_json())
    page = as_markdown(judge(read([Named(tmp_path)]), Design(), {}))
    assert "## Pods" in page
    assert "one-user | worker | 0.25 (agent 0.000) | 1000.0 ms | 200 | 25 % | 333.3 ms |" in page
