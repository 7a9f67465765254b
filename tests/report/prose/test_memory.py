"""12B post: 25 of 26 GiB charged, about 20 real, 5.8 left, 8 to 8.7 besides weights and cache; 100 GB/s."""

import pytest

from experiment.measure.pods import Pod
from report.prose.memory import bandwidth_gb_s, memory_of, overhead_gib
from tests.report.prose.runs import GIB, counters, pod, record, reply


def held(**memory: int | None) -> Pod:
    return pod("a-0", 10.0).model_copy(update={"after": counters(10.0, memory=memory)})


LEADER = held(
    used_bytes=25 * GIB, process_bytes=20 * GIB, page_cache_bytes=int(4.8 * GIB), shared_bytes=int(0.2 * GIB),
    limit_bytes=26 * GIB,
)  # fmt: skip


def test_the_page_cache_is_charged_and_is_headroom() -> None:
    found = memory_of(LEADER)
    assert found is not None
    assert (found.charged, found.process, found.page_cache) == pytest.approx((25, 20.2, 4.8))
    assert found.headroom == pytest.approx(5.8)


def test_what_splitting_does_not_divide() -> None:
    found = memory_of(LEADER)
    assert found is not None
    assert overhead_gib(found, weights_gib=11.15, kv_cache_gib=0.37) == pytest.approx(8.68)


def test_without_a_limit_there_is_no_headroom_and_without_counters_no_memory() -> None:
    unlimited = memory_of(held(used_bytes=1, process_bytes=1, page_cache_bytes=0))
    assert unlimited is not None
    assert unlimited.headroom is None
    assert memory_of(held(used_bytes=1, process_bytes=None)) is None
    assert memory_of(LEADER.model_copy(update={"after": None})) is None


def test_a_memory_bound_model_reads_about_a_hundred_gigabytes_a_second() -> None:
    records = [record("one-user", 1, [reply(64, 100, ttft_s=1, token_s=0.241)])]
    assert bandwidth_gb_s(records, 22.3) == pytest.approx(24 / 0.241, rel=0.01)
    assert bandwidth_gb_s([], 22.3) is None
