import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from benchmark.lock import RunLockedError, run_lock

HOLD = """
import sys, time
from pathlib import Path
from benchmark.lock import run_lock
with run_lock(Path(sys.argv[1]), "the first"):
    print("held", flush=True)
    time.sleep(600)
"""


def test_the_second_is_told_who_was_first(tmp_path: Path) -> None:
    with (
        run_lock(tmp_path / "lock", "the first"),
        pytest.raises(RunLockedError, match="being measured already, by the first") as caught,
        run_lock(tmp_path / "lock", "the second"),
    ):
        pass
    assert caught.value.remedy
    with run_lock(tmp_path / "lock", "the third"):
        assert (tmp_path / "lock").read_text() == "the third"


def test_a_killed_holder_holds_nothing(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path / "lock")], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        with pytest.raises(RunLockedError, match="by the first"), run_lock(tmp_path / "lock", "the second"):
            pass
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        with run_lock(tmp_path / "lock", "the second"):
            pass


def test_a_place_that_cannot_be_opened_is_said_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(RunLockedError, match="cannot be taken: No such file"), run_lock(tmp_path / "no" / "lock", ""):
        pass
