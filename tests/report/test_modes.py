import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from experiment.measure.load import APART, MERGED, mode_by_steps
from report.modes import (
    STAGGERS,
    LoadRun,
    clusters_table,
    read,
    share,
    shares_table,
    slowdowns,
    slowdowns_table,
)

RECORDED = (Path(__file__).parents[1] / "data" / "vllm" / "split-modes.txt").read_text()


def made(streams: int, stagger_ms: int, steps: int, gap_ms: float = 80, engine: str = "vLLM") -> LoadRun:
    return LoadRun(
        engine=engine, simulated=False, machine="this one", at=datetime(2026, 11, 30, tzinfo=UTC),
        streams=streams, stagger_ms=stagger_ms, tokens=80, steps=steps,
        gap_ms=gap_ms, low_ms=gap_ms, high_ms=gap_ms, tokens_per_s=40,
    )  # fmt: skip


RUNS = [made(3, 0, 161, 70), made(3, 0, 81, 98), made(4, 0, 160, 70), made(4, 10, 82, 91), made(3, 60, 82, 105)]


def test_every_recorded_run_is_in_one_of_the_two_modes() -> None:
    steps = [int(found) for found in re.findall(r" steps (\d+) ", RECORDED)]
    assert len(steps) == 34
    modes = [mode_by_steps(number / 80) for number in steps]
    assert modes.count(APART) == sum(number >= 160 for number in steps)
    assert modes.count(MERGED) == len(steps) - modes.count(APART)


def test_what_is_between_the_modes_is_neither() -> None:
    assert made(4, 0, 130).mode is None
    assert "| vLLM | neither | 1 |" in clusters_table({"vLLM": [made(4, 0, 130)]})


def test_shares_are_by_stagger_and_of_several_streams() -> None:
    alone = made(1, 0, 80)
    assert share([*RUNS, alone], STAGGERS["together"]) == (2, 3)
    assert share(RUNS, STAGGERS["30 ms and more"]) == (0, 1)
    table = shares_table({"vLLM": RUNS, "stand-in": RUNS[:1]})
    assert table.splitlines()[0] == "| started | vLLM | stand-in |"
    assert "| together | 2 of 3 | 1 of 1 |" in table
    assert "| 10 ms | 0 of 1 | 0 of 0 |" in table


def test_merged_over_apart_where_both_were_seen() -> None:
    assert slowdowns(RUNS) == {3: pytest.approx(101.5 / 70), 4: pytest.approx(91 / 70)}
    assert slowdowns(RUNS[:1]) == {}
    assert "| 3 | 1.45 | - |" in slowdowns_table({"vLLM": RUNS, "stand-in": RUNS[:1]})


def test_clusters_with_ranges_and_gaps() -> None:
    table = clusters_table({"vLLM": RUNS})
    assert "| vLLM | merged | 3 | 1.01 to 1.02 | 3: 102 ms, 4: 91 ms |" in table
    assert "| vLLM | apart | 2 | 2.00 to 2.01 | 3: 70 ms, 4: 70 ms |" in table


def test_a_cut_off_line_is_left_out_and_a_wrong_one_told(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    assert read(path) == []
    path.write_text(RUNS[0].model_dump_json() + "\n" + RUNS[1].model_dump_json()[:40])
    assert read(path) == RUNS[:1]
    path.write_text("{}\n")
    with pytest.raises(ValueError, match="engine"):
        read(path)
