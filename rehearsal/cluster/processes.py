"""Finding and ending a cluster's processes by the mark they carry, whatever was written down about them."""

import os
import select
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from experiment.errors import SplitbedError

VARIABLE = "SPLITBED_CLUSTER"
_KILL_TIMEOUT = 60.0


@dataclass(frozen=True)
class Process:
    """A live process of a cluster.

    Attributes:
        pid: as the host sees it.
        inner_pid: as its innermost PID namespace sees it.
        variables: its environment, as it was started.
    """

    pid: int
    inner_pid: int
    variables: dict[str, str]


def _read(pid: int) -> Process | None:
    directory = Path("/proc", str(pid))
    try:
        environment = (directory / "environ").read_bytes()
        if VARIABLE.encode() not in environment:
            return None
        status = (directory / "status").read_text()
    except OSError:
        return None
    pairs = (entry.partition("=") for entry in os.fsdecode(environment).split("\0"))
    inner = next((line for line in status.splitlines() if line.startswith("NSpid:")), "NSpid:\t0").split()[-1]
    return Process(pid, int(inner), {key: value for key, _, value in pairs})


def is_marked(pid: int, directory: Path) -> bool:
    """Tell whether a process carries the mark of the cluster in `directory`."""
    process = _read(pid)
    return process is not None and process.variables.get(VARIABLE) == str(directory)


def marked(directory: Path) -> Iterator[Process]:
    """Yield the processes that carry the mark of the cluster in `directory`.

    Dead ones carry none, nor do those that are just becoming another program: for a moment the kernel shows nothing of
    their environment.
    """
    for entry in Path("/proc").iterdir():
        process = _read(int(entry.name)) if entry.name.isdigit() else None
        if process and process.variables.get(VARIABLE) == str(directory):
            yield process


def end_all(directory: Path) -> None:
    """Kill every process of the cluster in `directory` and wait until none is left.

    Raises `SplitbedError` naming those that do not die within a minute.
    """
    deadline = time.monotonic() + _KILL_TIMEOUT
    while processes := list(marked(directory)):
        if time.monotonic() > deadline:
            pids = ", ".join(str(process.pid) for process in processes)
            raise SplitbedError(
                f"Processes {pids} of the cluster in {directory} do not die.",
                "They probably wait for a disk; look at their state in /proc, then take the cluster down again.",
            )
        for process in processes:
            send(process, directory, signal.SIGKILL)


def send(process: Process, directory: Path, number: signal.Signals) -> None:
    """Send a signal to a process if it is still the one that was found; wait for it to die of SIGKILL."""
    try:
        descriptor = os.pidfd_open(process.pid)
    except ProcessLookupError:
        return
    try:
        # The descriptor names one process for good, which a number does not: is it the one that was found?
        if not is_marked(process.pid, directory):
            return
        signal.pidfd_send_signal(descriptor, number)
        if number != signal.SIGKILL:
            return
        select.select([descriptor], [], [], 5.0)
    except ProcessLookupError:
        pass
    finally:
        os.close(descriptor)
