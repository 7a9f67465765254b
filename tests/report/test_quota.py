from datetime import UTC, datetime

import pytest

from report.modes import CpuUse, LoadRun
from report.quota import runs_table, settings_of, summary_table, throttled_share


def made(setting: str, streams: int, gap_ms: float, leader: tuple[int, int], worker: tuple[int, int]) -> LoadRun:
    pods = {
        role: CpuUse(periods=periods, throttled=throttled, throttled_s=throttled * 0.02, cpu_s=5)
        for role, (throttled, periods) in (("leader", leader), ("worker", worker))
    }
    return LoadRun(
        engine="vLLM", simulated=False, machine="this one", setting=setting, at=datetime(2026, 11, 30, tzinfo=UTC),
        streams=streams, stagger_ms=0, tokens=80, steps=81,
        gap_ms=gap_ms, low_ms=gap_ms, high_ms=gap_ms, tokens_per_s=streams * 8, pods=pods,
    )  # fmt: skip


FREE = made("no limit", 4, 70, (0, 0), (0, 0))
RUNS = [made("0.6", 1, 109, (50, 50), (0, 50)), made("0.6", 4, 100, (90, 100), (10, 100)), FREE]


def test_settings_in_the_order_of_their_measurement() -> None:
    assert settings_of(RUNS) == ["0.6", "no limit"]


def test_without_a_quota_there_is_no_share() -> None:
    assert throttled_share(FREE, "leader") is None
    assert throttled_share(RUNS[1], "leader") == pytest.approx(0.9)


def test_summary_adds_periods_and_keeps_single_streams_apart() -> None:
    first, second = summary_table(RUNS).splitlines()[2:]
    assert first == "| 0.6 | 2 | 109 ms | 100 ms | 140 of 150 (93 %) | 10 of 150 (7 %) | 0.50, 0.50 |"
    assert "| no limit | 1 | - | 70 ms | no quota | no quota |" in second


def test_every_run_is_a_line() -> None:
    lines = runs_table(RUNS).splitlines()[2:]
    assert len(lines) == 3
    assert lines[1] == ("| 0.6 | 4, 0 ms | merged | 1.01 | 100.0 ms | 32.0 | 90 of 100, 1.8 s | 10 of 100, 0.2 s |")
