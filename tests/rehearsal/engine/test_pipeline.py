"""Steps through stages, and the CPU quota."""

import pytest

from rehearsal.engine.pipeline import Pipeline, Quota
from rehearsal.engine.profile import Profile

PLAIN = Profile(name="plain", step_s=0.1, sequence_s=0, prefill_token_s=0, hop_s=0.01)


def test_a_step_passes_the_stages_one_after_the_other() -> None:
    assert Pipeline(PLAIN, stages=1).enter([], 1.0) == pytest.approx(1.1)
    assert Pipeline(PLAIN, stages=2).enter([], 1.0) == pytest.approx(1.12)


def test_two_steps_overlap_and_a_stage_takes_one_at_a_time() -> None:
    pipeline = Pipeline(PLAIN, stages=2)
    assert pipeline.enter([], 0.0) == pytest.approx(0.12)
    assert pipeline.enter([], 0.0) == pytest.approx(0.17)


def test_tensor_ranks_share_the_work() -> None:
    assert Pipeline(PLAIN, tensor=2).enter([], 0.0) == pytest.approx(0.1 / 1.8)


def test_a_stage_that_slept_takes_longer() -> None:
    pipeline = Pipeline(PLAIN.model_copy(update={"wake_s": 0.02, "wake_after_s": 0.05}))
    first = pipeline.enter([], 0.0)
    assert pipeline.enter([], first + 0.01) - first == pytest.approx(0.11)
    second = first + 0.11
    assert pipeline.enter([], second + 0.06) - second == pytest.approx(0.18)


def test_quota_lets_a_stage_stand_until_the_period_ends() -> None:
    quota = Quota(0.06, 0.1)
    assert quota.spend(0.0, 0.05, 1) == pytest.approx(0.05)
    assert quota.spend(0.05, 0.03, 1) == pytest.approx(0.12)
    assert (quota.throttled, quota.periods) == (1, 2)


def test_quota_counts_cores() -> None:
    quota = Quota(0.6, 0.1)
    assert quota.spend(0.0, 0.09, 6) == pytest.approx(0.09)
    assert quota.throttled == 0
    quota = Quota(0.6, 0.1)
    assert quota.spend(0.0, 0.09, 7) == pytest.approx(0.1 + 0.09 - 0.6 / 7)
    assert quota.throttled == 1


def test_waiting_actively_uses_up_the_quota() -> None:
    quota = Quota(0.06, 0.1)
    quota.wait(0.0, 0.08, 1)
    assert quota.throttled == 1
    assert quota.spend(0.08, 0.01, 1) == pytest.approx(0.11)


def test_quota_ends_also_far_from_zero() -> None:
    # A monotonic clock is at millions of seconds, where a period's end is not a round number.
    quota = Quota(0.06, 0.1)
    now = 3_141_592.653
    for _ in range(200):
        after = quota.spend(now, 0.045, 1)
        assert 0.0449 < after - now < 0.2
        now = after
    assert quota.throttled > 50
