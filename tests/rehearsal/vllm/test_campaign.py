from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from rehearsal.vllm.campaign import Journal, run_all
from rehearsal.vllm.modes import Load
from report.modes import LoadRun

LOADS = [Load(3, 0), Load(4, 10), Load(3, 0)]


def made(load: Load, steps: int, engine: str = "vLLM", setting: str = "") -> LoadRun:
    return LoadRun(
        engine=engine, simulated=False, machine="this one", setting=setting, at=datetime(2026, 11, 30, tzinfo=UTC),
        streams=load.streams, stagger_ms=load.stagger_ms, tokens=load.tokens, steps=steps,
        gap_ms=70, low_ms=70, high_ms=70, tokens_per_s=40,
    )  # fmt: skip


async def test_runs_that_are_there_are_not_run_again(tmp_path: Path, recorder: Any) -> None:
    journal = Journal(tmp_path / "deep" / "runs.jsonl")
    places = []

    async def make(load: Load, place: int) -> LoadRun:
        places.append(place)
        if len(places) == 3:
            raise OSError("the server died")
        return made(load, 80 + place)

    with pytest.raises(OSError, match="died"):
        await run_all(journal, LOADS, make, recorder, engine="vLLM")
    found = await run_all(journal, LOADS, make, recorder, engine="vLLM")
    assert places == [0, 1, 2, 2]
    assert [run.steps for run in found] == [80, 81, 82]
    assert journal.runs() == found


async def test_another_setting_and_another_engine_have_runs_of_their_own(tmp_path: Path, recorder: Any) -> None:
    journal = Journal(tmp_path / "runs.jsonl")
    for engine, setting in (("vLLM", "a"), ("vLLM", "b"), ("stand-in", "a")):

        async def make(load: Load, place: int, engine: str = engine, setting: str = setting) -> LoadRun:
            return made(load, 80 + place, engine, setting)

        found = await run_all(journal, LOADS, make, recorder, engine=engine, setting=setting)
        assert [(run.engine, run.setting) for run in found] == [(engine, setting)] * 3
    assert len(journal.runs()) == 9


def test_half_a_line_that_a_kill_left_is_dropped(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "runs.jsonl")
    journal.append(made(LOADS[0], 80))
    with journal.path.open("a") as file:
        file.write('{"engine": "vL')
    assert len(journal.runs()) == 1
    journal.append(made(LOADS[1], 81))
    assert [run.steps for run in journal.runs()] == [80, 81]
