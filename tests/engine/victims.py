"""Who is killed, and how they are found on the host."""

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

from rehearsal import cluster as clusters
from rehearsal.local import CLUSTER
from tests.engine.command import Command


def _in_pods(part: str) -> Iterator[int]:
    """Yield processes inside pods of the rehearsal's cluster whose command line has `part` in it."""
    cluster = clusters.find(CLUSTER)
    if cluster is None:
        return
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            groups = (entry / "cgroup").read_text()
            arguments = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue  # it has ended
        if cluster.cgroup in groups and part in arguments:
            yield int(entry.name)


def _part(name: str) -> Callable[[], list[int]]:
    def find() -> list[int]:
        # A cluster that is still starting has no handle yet, but its supervisor says who runs.
        pids = clusters.pids_of(CLUSTER)
        return [pid for part, pid in pids.items() if part == name]

    return find


VICTIMS: dict[str, Callable[[], list[int]]] = {
    "job": lambda: list(_in_pods("-m benchmark")),
    "worker": lambda: list(_in_pods("--headless")),
    "controller": lambda: list(_in_pods("/manager")),
    "apiserver": _part("kube-apiserver"),
    "kubelet": _part("kubelet/engine-0"),
}


def kill(victim: str, command: Command) -> bool:
    """Send SIGKILL to the victim; False if there was none to be found at this moment."""
    if victim == "command":
        if not command.running:
            return False
        command.signal(signal.SIGKILL)
        return True
    pids = VICTIMS[victim]()
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            return False
    return bool(pids)
