import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from rehearsal.child import duration, run_to_log

ROOT = Path(__file__).parents[2]
PARENT = """
import sys
from pathlib import Path
from rehearsal.child import run_to_log
run_to_log(["sh", "-c", "echo up; sleep 600 & wait"], Path(sys.argv[1]), beat=lambda seconds: None)
"""


def test_output_and_status_are_kept(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("before\n")
    argv = ["sh", "-c", "echo out; echo err >&2; pwd; echo $NAME; cat; exit 3"]
    status = run_to_log(argv, log, beat=lambda _: None, cwd=tmp_path, env={"PATH": os.defpath, "NAME": "x"})
    assert status == 3
    assert log.read_text() == f"before\nout\nerr\n{tmp_path}\nx\n"


def test_one_that_may_outlive_us_is_not_tied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rehearsal.child.BEAT_SECONDS", 0.02)

    def interrupt(seconds: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_to_log(["sh", "-c", "sleep 0.3; echo done"], tmp_path / "log", beat=interrupt, outlive=True)
    assert (tmp_path / "log").read_text() == "done\n"


@pytest.mark.skipif(os.geteuid() != 0, reason="promised to root only")
@pytest.mark.thorough
def test_descendants_die_with_a_killed_parent(tmp_path: Path) -> None:
    log = tmp_path / "log"
    parent = subprocess.Popen([sys.executable, "-c", PARENT, log], env=os.environ | {"PYTHONPATH": str(ROOT)})
    descendants: list[psutil.Process] = []
    while "sleep" not in [process.name() for process in descendants]:
        assert parent.poll() is None
        descendants = psutil.Process(parent.pid).children(recursive=True)
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    gone, alive = psutil.wait_procs(descendants, timeout=30)
    assert alive == []
    assert len(gone) >= 2


def test_durations_are_for_people() -> None:
    assert [duration(seconds) for seconds in (0.4, 89.4, 90, 605)] == ["0 s", "89 s", "1.5 min", "10.1 min"]
