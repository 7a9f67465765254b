"""Starting the first process of a set of namespaces, which is to outlive the command that starts it."""

import os
import socket
import sys
import time
from contextlib import suppress
from pathlib import Path

import rehearsal
from rehearsal.cluster import processes
from rehearsal.cluster.layout import Layout
from rehearsal.cluster.preflight import UNSHARE
from rehearsal.searchpath import search_path

_MARK_TIMEOUT = 30.0
_POLL = 0.005
_children: set[int] = set()

MODULE_CALL = (sys.executable, "-P", "-m")


def start(layout: Layout, mark: Path, hold: int, listener: socket.socket | None = None) -> None:
    """Start the supervisor of the plan in `layout`, in namespaces of its own.

    Args:
        layout: where its plan and its logs are.
        mark: directory of the cluster that it is a part of.
        hold: read end of a pipe; the supervisor ends at end of file, unless it has read a byte before.
        listener: a socket that one of its programs inherits.
    """
    environment = {
        "PATH": search_path(),
        "LANG": "C.UTF-8",
        "HOME": "/root",
        "TMPDIR": str(layout.temporary),
        "PYTHONPATH": str(Path(rehearsal.__file__).resolve().parents[1]),
        "PYTHONDONTWRITEBYTECODE": "1",
        processes.VARIABLE: str(mark),
    }
    argv = [*UNSHARE, *MODULE_CALL, "rehearsal.cluster.inside", str(layout.plan), str(hold)]
    log = os.open(layout.logs / "supervisor.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        # What our caller passed on to us, such as the pipes of a make, is none of the cluster's business.
        inherited = _inheritable()
        os.set_inheritable(hold, True)
        if listener:
            os.set_inheritable(listener.fileno(), True)
        # Not by subprocess, whose objects want to be waited for: this child is to outlive us.
        child = os.posix_spawnp(
            argv[0],
            argv,
            environment,
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                (os.POSIX_SPAWN_DUP2, log, 1),
                (os.POSIX_SPAWN_DUP2, log, 2),
                *((os.POSIX_SPAWN_CLOSE, number) for number in inherited),
            ],
            setsid=True,
            setsigmask=[],
        )
        _children.add(child)
    finally:
        os.close(log)
    _wait_for_mark(child, mark)


def _wait_for_mark(child: int, mark: Path) -> None:
    """Wait until the child shows its mark, or has ended.

    A spawn returns as soon as the child has its new memory, and that is before the kernel has noted where in it the
    environment is: on a busy machine a look at that moment found no process of the cluster, as if it had ended.
    """
    deadline = time.monotonic() + _MARK_TIMEOUT
    while time.monotonic() < deadline and not processes.is_marked(child, mark):
        if os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
            return
        time.sleep(_POLL)


def collect() -> None:
    """Take note of the end of what this process has started, lest it stays in the process table."""
    for child in list(_children):
        if os.waitpid(child, os.WNOHANG)[0]:
            _children.discard(child)


def _inheritable() -> list[int]:
    found = []
    for entry in Path("/proc/self/fd").iterdir():
        with suppress(OSError):  # the one that the listing itself used
            if int(entry.name) > 2 and os.get_inheritable(int(entry.name)):
                found.append(int(entry.name))
    return found
