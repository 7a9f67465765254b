"""The client in a cgroup whose quota is less than it needs: it must say so, and its figures must enter none."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from report.verdict.reading import Named, read
from tests.bench.engine import MODEL, PARAMETERS, Engine

pytestmark = pytest.mark.engine

CORES = 0.05
STREAMS, TOKENS = 64, 100
PERIOD_US = 100_000
ENTERING = 'echo $$ > "$0" && exec "$@"'


@contextmanager
def cgroup(cores: float) -> Iterator[Path]:
    """Make a cgroup of that quota, of either version, and yield the file that takes processes in."""
    one = Path("/sys/fs/cgroup/cpu")
    root = one if one.is_dir() else Path("/sys/fs/cgroup")
    directory = root / f"splitbed-starved-{os.getpid()}"
    quota = str(round(cores * PERIOD_US))
    if root != one:
        (root / "cgroup.subtree_control").write_text("+cpu")
    directory.mkdir()
    try:
        if root == one:
            (directory / "cpu.cfs_period_us").write_text(str(PERIOD_US))
            (directory / "cpu.cfs_quota_us").write_text(quota)
        else:
            (directory / "cpu.max").write_text(f"{quota} {PERIOD_US}")
        yield directory / "cgroup.procs"
    finally:
        directory.rmdir()


def test_a_client_that_its_quota_starves_says_so_and_its_figures_enter_none(tmp_path: Path) -> None:
    test = {"kind": "concurrency", "users": [STREAMS], "requests": 1, "output_tokens": TOKENS, "repeats": 1}
    plan = {"run": "starved", "model": MODEL, "seed": 0, "tests": [test], "calibrate": False}
    (tmp_path / "plan.json").write_text(json.dumps(plan | {"request_timeout_s": 120, "ready_timeout_s": 120}))
    program = str(Path(sys.executable).with_name("splitbed"))
    with Engine(tmp_path / "stamps", parameters={**PARAMETERS, "step_s": 0.005}) as engine, cgroup(CORES) as procs:
        command = ["sh", "-c", ENTERING, str(procs), program, "bench", engine.url, "--json"]
        command += ["--plan", str(tmp_path / "plan.json"), "--results", str(tmp_path / "results")]
        told = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert told.returncode == 0, told.stderr
    assert "CLIENT-LIMITED: its CPU quota made it stand still for" in told.stderr
    reading = read([Named(tmp_path / "results")])
    assert [one.why[:24] for one in reading.left_out] == ["the client was the limit"]
    assert not any(run.records for arm in reading.arms for run in arm.runs)
