from typing import Any

import pytest

from experiment.measure.pods import Agent, Cpu, Interface, Memory, Pod, PodCounters, Pods, PodUse, uses


def counters(at_s: float, **changes: Any) -> PodCounters:
    link = Interface(received_bytes=0, received_packets=0, sent_bytes=changes.pop("sent", 0), sent_packets=0)
    fields: dict[str, Any] = {
        "used_s": 0.0,
        "periods": 0,
        "throttled_periods": 0,
        "throttled_s": 0.0,
        "quota_cores": 6.0,
    }
    return PodCounters(
        asked_s=at_s,
        answered_s=at_s,
        monotonic_s=at_s,
        cgroup=2,
        cpu=Cpu.model_validate(fields | changes),
        memory=Memory(
            used_bytes=1,
            process_bytes=1,
            page_cache_bytes=0,
            shared_bytes=0,
            limit_bytes=None,
            out_of_memory_kills=None,
        ),
        network={"lo": link, "eth0": link},
        agent=Agent(cpu_s=0.0, resident_bytes=None),
    )


def pod(before: PodCounters | None, after: PodCounters | None) -> Pod:
    return Pod(
        name="x-0", uid="u", role="leader", group=0, node="n", instance_type=None, zone=None, image="i", image_id="i",
        before=before, after=after,
    )  # fmt: skip


def test_use_is_what_grew_and_is_told_per_token() -> None:
    around = counters(10), counters(30, used_s=40.0, periods=200, throttled_periods=50, throttled_s=2.5, sent=1000)
    (use,) = uses(Pods(pods=(pod(*around),)), tokens=80)
    assert (use.seconds, use.cpu_s, use.throttled_share, use.throttled_s) == (20, 40, 0.25, 2.5)
    assert (use.sent_bytes, use.cpu_per_token_s, use.sent_bytes_per_token) == (1000, 0.5, 12.5)


def test_the_idle_baseline_is_taken_off_by_its_time() -> None:
    idle = PodUse.of(pod(counters(0), counters(60, used_s=6.0, sent=600)), tokens=0)
    busy = PodUse.of(pod(counters(100), counters(120, used_s=42.0, sent=1000)), tokens=80)
    assert idle is not None
    assert busy is not None
    assert (idle.cpu_per_token_s, idle.sent_bytes_per_token) == (None, None)
    over = busy.over(idle, tokens=80)
    assert over.cpu_per_token_s == pytest.approx((42 - 2) / 80)
    assert over.sent_bytes_per_token == pytest.approx((1000 - 200) / 80)
    assert over.cpu_s == busy.cpu_s, "what was counted stays as it was counted"


def test_without_a_quota_nothing_is_known_of_throttling() -> None:
    unknown = dict.fromkeys(("periods", "throttled_periods", "throttled_s", "quota_cores"))
    use = PodUse.of(pod(counters(0, **unknown), counters(1, **unknown)), tokens=1)
    assert use is not None
    assert (use.throttled_share, use.throttled_s) == (None, None)


def test_a_pod_that_was_not_looked_into_twice_has_no_use() -> None:
    assert uses(Pods(pods=(pod(counters(0), None), pod(None, counters(1)))), tokens=1) == ()
