"""Which run a stack is at, across killed commands."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from rehearsal import run as runs

NOW = datetime(2026, 11, 30, 15, 4, 5, tzinfo=UTC)


def test_a_first_run_is_named_by_its_moment(tmp_path: Path) -> None:
    assert runs.load(tmp_path / "run.json", NOW) == runs.Run(id="r20261130-150405")


def test_a_run_that_was_not_measured_is_gone_on_with(tmp_path: Path) -> None:
    run = runs.Run(id="r1", attempt=2, cluster="uid")
    runs.save(run, tmp_path / "run.json")

    assert runs.load(tmp_path / "run.json", NOW) == run


def test_a_measured_run_is_followed_by_a_new_one_on_the_same_cluster(tmp_path: Path) -> None:
    runs.save(replace(runs.Run(id="r1", attempt=2, cluster="uid"), measured=True), tmp_path / "run.json")

    assert runs.load(tmp_path / "run.json", NOW) == runs.Run(id="r20261130-150405", cluster="uid")


@pytest.mark.parametrize("text", ["", "{", "[]", '{"id": "x", "unknown": 1}'])
def test_an_unreadable_memory_is_a_new_run(tmp_path: Path, text: str) -> None:
    (tmp_path / "run.json").write_text(text)

    assert runs.load(tmp_path / "run.json", NOW).id == "r20261130-150405"
