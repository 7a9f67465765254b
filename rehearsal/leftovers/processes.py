"""All processes of the machine, and why one of them may be ours."""

import os
import time
from dataclasses import dataclass
from pathlib import Path

from rehearsal.cluster.layout import clusters_home, is_own_cgroup
from rehearsal.cluster.processes import VARIABLE

COMMAND = "SPLITBED_COMMAND"
"""What a command that looks for leftovers sets in its environment: all that it starts inherits it."""
_KERNEL_THREADS = 2
_COMMAND_LENGTH = 120


@dataclass(frozen=True)
class Process:
    """One process, told from a later one of the same number by its start.

    Attributes:
        started: in clock ticks since the machine started.
        cluster: the directory of the cluster whose mark it carries, if any.
        marked_by: the command whose mark it carries; "" for none, None where it shows no environment to look into.
        cgroups: its control groups, as /proc has them.
        ended: it is dead and nobody has collected it.
    """

    pid: int
    parent: int
    started: int
    command: str
    cluster: str
    cgroups: str
    ended: bool
    marked_by: str | None = None

    def __str__(self) -> str:
        state = " (ended, not collected by its parent)" if self.ended else ""
        return f"{self.pid} {self.command[:_COMMAND_LENGTH]}{state}, child of {self.parent}"


class Processes:
    """A snapshot of all processes.

    A process may be ours if it

    - carries the mark of a cluster of this home, or is in a control group of one;
    - descends from the process that takes the listing;
    - was left to init, or to an ancestor of ours, is in the same control groups as we are, and does not lack our mark:
      what we start stays in them unless the kubelet moves it, and what other people's services and sessions start is
      in others. In a container, where all share one, the mark alone tells them apart.

    Children of other people's processes are not, nor is anything below a cluster of another home.
    """

    def __init__(self, found: dict[int, Process], self_pid: int) -> None:
        self._found = found
        self._self = self_pid
        ours = found.get(self_pid)
        self._cgroups = ours.cgroups if ours else ""
        self._mark = os.environ.get(COMMAND)
        self._ancestors = {process.pid for process in self._line(self_pid)} - {self_pid} | {1}
        clusters = {process.cluster for process in found.values() if process.cluster}
        home = clusters_home().resolve()
        self._foreign = {cluster for cluster in clusters if Path(cluster).parent != home}

    @classmethod
    def take(cls) -> "Processes":
        """List the processes that run now."""
        found = {}
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit() and (process := _read(entry)):
                found[process.pid] = process
        return cls(found, os.getpid())

    def ours(self) -> frozenset[Process]:
        """Return those that may be ours."""
        return frozenset(process for process in self._found.values() if self.may_be_ours(process.pid))

    def may_be_ours(self, pid: int) -> bool:
        """Tell whether a process of the snapshot may be ours."""
        process = self._found.get(pid)
        if process is None:
            return False
        if pid == self._self:
            return True
        line = self._line(pid)
        if any(above.pid == _KERNEL_THREADS or above.cluster in self._foreign for above in line):
            return False
        if process.cluster or self._in_cluster_cgroup(process):
            return True
        if any(above.pid == self._self for above in line):
            return True
        if process.ended or process.parent not in self._ancestors or process.cgroups != self._cgroups:
            return False
        return self._mark is None or process.marked_by in (self._mark, None)

    def _in_cluster_cgroup(self, process: Process) -> bool:
        names = {line.partition("/")[2].partition("/")[0] for line in process.cgroups.splitlines()}
        return any(is_own_cgroup(name) for name in names)

    def _line(self, pid: int) -> list[Process]:
        """Return the process and its ancestors."""
        line: list[Process] = []
        while (process := self._found.get(pid)) and len(line) < len(self._found):
            line.append(process)
            pid = process.parent
        return line


def mark_command() -> None:
    """Mark this process's children, and theirs, as ours, from now on; its own children inherit a command's mark."""
    os.environ.setdefault(COMMAND, f"{os.getpid()}-{time.monotonic_ns()}")


def _read(entry: Path) -> Process | None:
    try:
        text = (entry / "stat").read_text()
        command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
        cgroups = (entry / "cgroup").read_text()
    except OSError:  # it has ended meanwhile
        return None
    try:
        environment = (entry / "environ").read_bytes()
    except OSError:  # another user's, where we are not root: it cannot be ours
        environment = b""
    name, _, rest = text.partition("(")[2].rpartition(")")
    fields = rest.split()
    variables = dict(os.fsdecode(item).partition("=")[::2] for item in environment.split(b"\0") if item)
    return Process(
        pid=int(entry.name),
        parent=int(fields[1]),
        started=int(fields[19]),
        command=command or f"[{name}]",
        cluster=variables.get(VARIABLE, ""),
        cgroups=cgroups,
        ended=fields[0] == "Z",
        marked_by=variables.get(COMMAND, "") if variables else None,
    )
