"""Long-running programs that end when we end."""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from rehearsal.searchpath import on_path

BEAT_SECONDS = 15.0

_DIE_WITH_PARENT = ("--pdeathsig", "KILL", "--")
# Only root may make a process namespace; its first process takes all the others along when it dies,
# which a death signal alone does not: that reaches the child, not the grandchildren.
_ALL_AT_ONCE = ("--pid", "--fork", "--kill-child")


def tied(argv: Sequence[str], *, private_mounts: bool = False) -> list[str]:
    """Return the command that runs `argv` so that it, and what it starts, dies with this process.

    Of its descendants this is promised to root only. `private_mounts` (root only) keeps the mounts that it
    makes to itself.
    """
    mounts = ("--mount", "--propagation", "private") if private_mounts else ()
    isolation = (_found("unshare"), *_ALL_AT_ONCE, *mounts, "--") if os.geteuid() == 0 else ()
    return [_found("setpriv"), *_DIE_WITH_PARENT, *isolation, *argv]


def _found(program: str) -> str:
    return on_path(program) or program  # a missing one is then named by the system's own error


def run_to_log(
    argv: Sequence[str],
    log: Path,
    *,
    beat: Callable[[float], None],
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    private_mounts: bool = False,
    outlive: bool = False,
) -> int:
    """Run a program to its end with its output appended to `log`, and return its exit status.

    `beat` is called with the seconds so far, every `BEAT_SECONDS`. The program and whatever it started
    die with this process, also when that is killed, as `tied` tells. With `outlive` they are let finish
    what must not be left half done: an interrupt is put off until then, and a kill does not reach them.
    """
    start = time.monotonic()
    with (
        log.open("ab") as output,
        subprocess.Popen(
            argv if outlive else tied(argv, private_mounts=private_mounts),
            cwd=cwd,
            env=None if env is None else dict(env),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        ) as process,
    ):
        try:
            while True:
                try:
                    return process.wait(timeout=BEAT_SECONDS)
                except subprocess.TimeoutExpired:
                    beat(time.monotonic() - start)
        except BaseException:
            if outlive:
                process.wait()
            else:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
            raise


def duration(seconds: float) -> str:
    """Write a duration for a person."""
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.1f} min"
