import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from rehearsal.locks import held, locked

ROOT = Path(__file__).parents[2]
COUNT = """
import sys
from pathlib import Path
from rehearsal import locks
locks._POLL_SECONDS = 0.001
lock, counter = Path(sys.argv[1]), Path(sys.argv[2])
for _ in range(40):
    with locks.locked(lock, lambda text: None):
        counter.write_text(str(int(counter.read_text()) + 1))
"""
HOLD = """
import sys, time
from pathlib import Path
from rehearsal.locks import locked
with locked(Path(sys.argv[1]), print):
    print("held", flush=True)
    time.sleep(600)
"""


def start(code: str, *arguments: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        text=True,
    )


def test_one_at_a_time(tmp_path: Path) -> None:
    """The file goes and comes with each holder, so two could hold locks on two files of one name."""
    counter = tmp_path / "counter"
    counter.write_text("0")
    counting = [start(COUNT, tmp_path / "lock", counter) for _ in range(4)]
    for process in counting:
        process.communicate(timeout=60)
    assert [process.returncode for process in counting] == [0] * 4
    assert counter.read_text() == str(4 * 40)
    assert not (tmp_path / "lock").exists()


def test_a_killed_holder_holds_nothing(tmp_path: Path) -> None:
    holder = start(HOLD, tmp_path / "lock")
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    assert (tmp_path / "lock").read_text() == f"{holder.pid}\n"
    holder.send_signal(signal.SIGKILL)
    holder.communicate()
    with locked(tmp_path / "lock", pytest.fail):
        assert (tmp_path / "lock").read_text() == f"{os.getpid()}\n"
    assert not (tmp_path / "lock").exists()


def test_a_lock_in_use_is_told_from_one_left_behind(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with locked(path, pytest.fail):
        assert held(path)
    assert not held(path)
    path.write_text("4711\n")
    assert not held(path)


def test_a_waiting_one_says_for_whom_and_can_be_interrupted(tmp_path: Path) -> None:
    def interrupt(text: str) -> None:
        assert f"process {os.getpid()}," in text
        raise KeyboardInterrupt

    with locked(tmp_path / "deep" / "lock", pytest.fail):
        with pytest.raises(KeyboardInterrupt), locked(tmp_path / "deep" / "lock", interrupt):
            pass
        assert (tmp_path / "deep" / "lock").exists()


def test_an_error_gives_it_back(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="mine"), locked(tmp_path / "lock", pytest.fail):
        raise ValueError("mine")
    assert not (tmp_path / "lock").exists()


def test_on_a_full_disk_it_is_held_without_its_holders_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "pwrite", full)
    with locked(tmp_path / "lock", pytest.fail):
        assert held(tmp_path / "lock")
    assert not (tmp_path / "lock").exists()
