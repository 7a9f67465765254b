"""What the 12B post found about memory: the same pods, reckoned here."""

import pytest

from experiment.expectation.known import known
from experiment.kv.cache import GIB
from experiment.memory.pod import PodMemory, pods
from experiment.memory.shortage import Cause, Verdict

NODE_GIB = 29.8
"""GiB that a m7g.2xlarge lets pods have, as the post saw."""


def first_attempt_at_the_12b() -> tuple[PodMemory, ...]:
    """The engine refused 4 GiB of KV cache in pods of 26 GiB: it saw 0.58 on the leader and 0.97 on the worker."""
    return _split_12b(kv_bytes=4 * GIB)


def the_12b_as_it_ran() -> tuple[PodMemory, ...]:
    """With 400 MB it ran: about 20 GiB of each pod were processes, 5.8 GiB real headroom, the rest page cache."""
    return _split_12b(kv_bytes=400_000_000)


def the_12b_on_one_node() -> PodMemory:
    """One node is out: 22.3 GiB of weights and about 8 GiB of overhead are more than it can give."""
    [pod] = pods(
        known("google/gemma-4-12B-it"),
        kv_bytes=400_000_000,
        limit_gib=NODE_GIB,
        node_left_gib=NODE_GIB,
        own_page_cache=True,
    )
    return pod


def the_1b_on_one_node() -> PodMemory:
    """The 1B ran whole in a pod of 20 GiB with 4 GiB of KV cache."""
    [pod] = pods(
        known("google/gemma-3-1b-it"), kv_bytes=4 * GIB, limit_gib=20, node_left_gib=NODE_GIB, own_page_cache=True
    )
    return pod


def _split_12b(kv_bytes: int) -> tuple[PodMemory, ...]:
    return pods(
        known("google/gemma-4-12B-it"),
        kv_bytes=kv_bytes,
        limit_gib=26,
        pipeline=2,
        node_left_gib=NODE_GIB,
        own_page_cache=True,
    )


def test_the_first_attempt_was_refused_by_the_guard_alone() -> None:
    for pod in first_attempt_at_the_12b():
        assert [(short.cause, short.certain) for short in pod.shortages] == [(Cause.GUARD, True)]
        assert (pod.guard.worst_gib, pod.guard.best_gib) == (0.58, 0.97)


def test_the_second_ran_with_the_headroom_that_was_measured() -> None:
    for pod in the_12b_as_it_ran():
        assert pod.verdict is Verdict.FITS
        assert pod.low_gib < 20 < pod.high_gib
        assert pod.headroom_gib == pytest.approx(5.8, abs=0.1)


def test_one_node_is_out_for_the_12b_and_enough_for_the_1b() -> None:
    assert the_12b_on_one_node().verdict is Verdict.REFUSED
    assert the_1b_on_one_node().verdict is Verdict.FITS
