"""Which old builds go, and which stay."""

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from rehearsal.toolchain import Program
from rehearsal.toolchain.builds import Build
from rehearsal.toolchain.pruning import prune


@pytest.fixture
def build(tmp_path: Path, pause: Program) -> Build:
    return Build(pause, tmp_path / "tools", "go1.26.8")


def old(build: Build, digest: str, age_s: float, program: str = "") -> Path:
    path = build.root / f"{program or build.program.name}-0.9.0-{digest * 12}"
    path.mkdir(parents=True)
    (path / "binary").write_bytes(b"x" * 3 * 1024 * 1024)
    touch(path, age_s)
    return path


def touch(path: Path, age_s: float) -> None:
    os.utime(path, (1_900_000_000 - age_s,) * 2)


def test_the_one_before_is_kept_and_those_before_go(build: Build, recorder: Any) -> None:
    paths = [old(build, digest, age) for digest, age in (("a", 1), ("b", 2), ("c", 3), ("d", 4))]
    prune(build, recorder.note)
    assert [path.exists() for path in paths] == [True, True, False, False]
    assert f"removed {paths[2].name}, {paths[3].name}, which nothing uses any more" in recorder.text


def test_the_one_just_built_is_kept_whatever_the_clock_says(build: Build, recorder: Any) -> None:
    build.directory.mkdir(parents=True)
    touch(build.directory, 99)
    for digest in "ab":
        old(build, digest, 1)
    prune(build, recorder.note)
    assert build.directory.exists()
    assert not recorder.text


def test_other_programs_and_files_are_left_alone(build: Build, recorder: Any) -> None:
    others = [old(build, digest, 1, program="pause-like") for digest in "abc"]
    others.append(old(build, "a", 1, program="pulumi"))
    (build.root / "pause.log").touch()
    prune(build, recorder.note)
    assert all(path.exists() for path in others)
    assert (build.root / "pause.log").exists()


def test_one_that_runs_is_kept(build: Build, recorder: Any) -> None:
    paths = [old(build, digest, age) for digest, age in (("a", 1), ("b", 2), ("c", 3), ("d", 4))]
    binary = Path(shutil.copy("/bin/sleep", paths[3] / "sleep"))
    touch(paths[3], 4)
    with subprocess.Popen([binary, "60"]) as running:
        try:
            prune(build, recorder.note)
        finally:
            running.kill()
    assert [path.exists() for path in paths] == [True, True, False, True]
