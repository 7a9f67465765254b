"""The first process is there for all to find when its start returns."""

import os
import subprocess
from pathlib import Path

import pytest

from rehearsal.cluster import firstprocess, processes


def test_a_start_returns_when_the_mark_is_seen(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    seen = [False, False, True]
    monkeypatch.setattr(processes, "is_marked", lambda pid, directory: seen.pop(0))
    with subprocess.Popen(["sleep", "60"]) as child:
        firstprocess._wait_for_mark(child.pid, tmp_path)
        child.kill()
    assert seen == []


def test_a_start_returns_when_the_child_has_ended_without_a_mark(tmp_path: Path) -> None:
    child = os.posix_spawnp("true", ["true"], {})
    firstprocess._wait_for_mark(child, tmp_path)
    assert os.waitpid(child, 0) == (child, 0), "the child is still there to be collected"


def test_a_process_is_known_by_the_directory_in_its_mark(tmp_path: Path) -> None:
    with subprocess.Popen(["sleep", "60"], env={**os.environ, processes.VARIABLE: str(tmp_path)}) as child:
        firstprocess._wait_for_mark(child.pid, tmp_path)
        assert processes.is_marked(child.pid, tmp_path)
        assert not processes.is_marked(child.pid, tmp_path / "other")
        child.kill()
