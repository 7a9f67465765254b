"""What can be seen of the quota runs without a cluster: their settings, and that a load is put from a child."""

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest

from rehearsal.vllm import quota
from rehearsal.vllm.campaign import Journal
from rehearsal.vllm.environment import VllmError
from rehearsal.vllm.loadclient import load_client
from rehearsal.vllm.modes import Load, Target, run
from rehearsal.vllm.quota import LOADS, SETTINGS, Setting, measure, overrides
from report.modes import LoadRun
from tests.rehearsal.engine.conftest import Start

root = pytest.mark.skipif(os.geteuid() != 0, reason="only root may enter a network namespace")


def test_settings_are_told_apart_and_cover_limits_none_and_bound_threads() -> None:
    every = [setting for of_threads in SETTINGS.values() for setting in of_threads]
    labels = [setting.label for setting in every]
    assert len(set(labels)) == len(labels)
    assert all(of_threads[0].given for of_threads in SETTINGS.values()), (
        "the limit of Kubernetes is there at first only"
    )
    assert {setting.cores for setting in every if setting.own_core} == {None, 1.0, 0.85, 0.6}
    assert any(setting.threads > (setting.cores or setting.threads) for setting in every), "more threads than cores"


def test_each_start_has_the_threads_of_its_settings() -> None:
    for threads, of_threads in SETTINGS.items():
        assert overrides(threads)["engine.env"]["OMP_NUM_THREADS"] == str(threads)
        assert all(setting.threads == threads for setting in of_threads)


@pytest.mark.thorough
async def test_nothing_is_started_for_runs_that_are_there(start: Start, tmp_path: Path, recorder: Any) -> None:
    running = await start("--served-model-name=tiny")
    found = await run(Target("stand-in", True, "here", running.port), Load(1, 0, 2), "seed")
    journal = Journal(tmp_path / "quota.jsonl")
    setting = Setting(1, 0.6, own_core=True)
    for _ in LOADS:
        journal.append(found.model_copy(update={"setting": setting.label}))
    started: list[object] = []

    def no_cluster(*_: object) -> None:
        started.append(_)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(quota, "on_local_cluster", no_cluster)
        patch.setattr("rehearsal.vllm.quota.clusters.down", no_cluster)
        measure(journal, recorder, {1: (setting,)})
    assert len(started) == 1, "only the cluster is taken down"


@root
@pytest.mark.thorough
async def test_a_child_puts_loads_and_tells_what_came(start: Start) -> None:
    running = await start("--served-model-name=tiny")

    def put() -> tuple[LoadRun, str]:
        with load_client(os.getpid(), "127.0.0.1", running.port, "tiny") as client:
            found = client.run(Load(2, 0, 10), "seed")
            try:
                with load_client(os.getpid(), "127.0.0.1", running.port, "other") as wrong:
                    wrong.run(Load(1, 0, 10), "seed")
            except VllmError as error:
                return found, str(error)
            return found, ""

    found, refusal = await asyncio.to_thread(put)
    assert (found.streams, found.tokens) == (2, 10)
    assert "404" in refusal
