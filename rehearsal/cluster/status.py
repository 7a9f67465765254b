"""What a supervisor says of its programs, and waiting for it to say more."""

import json
import time
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

from experiment.errors import SplitbedError
from rehearsal.cluster import processes
from rehearsal.cluster.layout import Layout
from rehearsal.cluster.plan import Plan
from rehearsal.cluster.supervisor import PROGRAM_VARIABLE

SUPERVISOR = "supervisor"
_POLL = 0.1


class ClusterError(SplitbedError):
    """A cluster did not come up, ended, or cannot be worked with."""


def read(layout: Layout) -> dict[str, dict[str, Any]]:
    """Return state (waiting, running, done or failed), PID, starts and last exit status by program."""
    try:
        found: dict[str, dict[str, Any]] = json.loads(layout.status.read_text())
    except FileNotFoundError:
        return {}
    return found


def done(layout: Layout, names: Collection[str]) -> bool:
    """Tell whether all these programs, which were to succeed once, have."""
    found = read(layout)
    return all(found.get(name, {}).get("state") == "done" for name in names)


def pids(layout: Layout) -> dict[str, int]:
    """Return the PIDs on the host of the supervisor and of its programs, also while the cluster starts."""
    inner = {name: run["pid"] for name, run in read(layout).items() if run["pid"]}
    found = {}
    for process in processes.marked(layout.path):
        name = process.variables.get(PROGRAM_VARIABLE)
        if name is None and process.inner_pid == 1:
            found[SUPERVISOR] = process.pid
        elif name is not None and inner.get(name) == process.inner_pid:
            found[name] = process.pid
    return found


def wait(layout: Layout, mark: Path, condition: Callable[[], bool], timeout: float, otherwise: str) -> None:
    """Wait for a condition; raise `ClusterError` when it cannot come any more, or not within `timeout` seconds.

    Args:
        layout: of the supervisor.
        mark: of its processes.
        condition: asked again and again.
        timeout: in seconds.
        otherwise: what has not come, as a sentence without its full stop.
    """
    deadline = time.monotonic() + timeout
    while not condition():
        states = {name: run["state"] for name, run in read(layout).items()}
        if failed := [name for name, state in states.items() if state == "failed"]:
            raise ClusterError(f"{failed[0]} keeps ending.", _log_of(layout, failed[0]))
        if not any(True for _ in processes.marked(mark)):
            raise ClusterError("The cluster has ended.", _log_of(layout, SUPERVISOR))
        if time.monotonic() > deadline:
            waiting = [name for name, state in states.items() if state == "waiting"]
            raise ClusterError(f"{otherwise}.", _log_of(layout, waiting[0] if waiting else SUPERVISOR))
        time.sleep(_POLL)


def _log_of(layout: Layout, program: str) -> str:
    """Say what a program's log ends with: the file may be gone soon."""
    logs = {found.name: found.log for found in Plan.load(layout.plan).programs}
    log = Path(logs.get(program, layout.logs / f"{SUPERVISOR}.log"))
    lines = log.read_text(errors="replace").strip().splitlines() if log.exists() else []
    return f"The log of {program} ends with: {lines[-1]}" if lines else f"{program} has logged nothing."
