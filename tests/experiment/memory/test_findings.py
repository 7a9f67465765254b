import pytest

from experiment.memory import findings
from experiment.memory.shortage import Cause, Verdict


def test_the_first_attempt_was_refused_by_the_guard_alone() -> None:
    for pod in findings.first_attempt_at_the_12b():
        assert [(short.cause, short.certain) for short in pod.shortages] == [(Cause.GUARD, True)]
        assert (pod.guard.worst_gib, pod.guard.best_gib) == (0.58, 0.97)


def test_the_second_ran_with_the_headroom_that_was_measured() -> None:
    for pod in findings.the_12b_as_it_ran():
        assert pod.verdict is Verdict.FITS
        assert pod.low_gib < 20 < pod.high_gib
        assert pod.headroom_gib == pytest.approx(5.8, abs=0.1)


def test_one_node_is_out_for_the_12b_and_enough_for_the_1b() -> None:
    assert findings.the_12b_on_one_node().verdict is Verdict.REFUSED
    assert findings.the_1b_on_one_node().verdict is Verdict.FITS
