"""A container's CPU as the kernel accounts and limits it, in either version of control groups."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from rehearsal.cluster.cgroups import Hierarchy, hierarchies
from rehearsal.vllm.environment import VllmError
from report.modes import CpuUse

PERIOD_US = 100_000
"""The kernel's usual quota period, in microseconds; the kubelet's too."""


@dataclass(frozen=True)
class Reading:
    """Totals since the container began: quota periods, and times in seconds."""

    periods: int
    throttled: int
    throttled_s: float
    cpu_s: float

    def since(self, before: "Reading") -> CpuUse:
        """Return what was used after `before`; the kernel counts anew when a quota is set."""
        return CpuUse(
            periods=max(0, self.periods - before.periods),
            throttled=max(0, self.throttled - before.throttled),
            throttled_s=round(max(0.0, self.throttled_s - before.throttled_s), 4),
            cpu_s=round(self.cpu_s - before.cpu_s, 4),
        )


@dataclass(frozen=True)
class PodCpu:
    """The control groups of one container, by controller; the pod's own group is the parent of each.

    Attributes:
        cpu: of the controller `cpu`.
        usage: where its CPU time is counted.
        cpuset: of the controller `cpuset`.
        unified: whether all of them are one, of version 2.
    """

    cpu: Path
    usage: Path
    cpuset: Path
    unified: bool

    @classmethod
    def find(cls, cluster: str, container: str, trees: Iterable[Hierarchy] | None = None) -> "PodCpu":
        """Return the groups of a container.

        Args:
            cluster: the cluster's control group.
            container: the container's id, as its pod's status has it.
            trees: the mounted hierarchies; the machine's own if not given.

        Raises:
            VllmError: a controller has no such group.
        """
        identity = container.rpartition("/")[2]
        found: dict[str, Path] = {}
        unified = False
        for tree in hierarchies() if trees is None else trees:
            for path in (tree.path / cluster).glob(f"**/*{identity}*"):
                if path.is_dir():
                    found |= dict.fromkeys(tree.controllers, path)
                    unified = unified or (tree.unified and "cpu" in tree.controllers)
                    break
        usage = found.get("cpu" if unified else "cpuacct")
        if "cpu" not in found or "cpuset" not in found or usage is None:
            raise VllmError(
                f"The container {identity[:12]} has no control group of cpu, cpuacct and cpuset below {cluster}.",
                "It may have ended meanwhile; run this again.",
            )
        return cls(found["cpu"], usage, found["cpuset"], unified)

    def read(self) -> Reading:
        """Return the totals."""
        stat = dict(line.split() for line in (self.cpu / "cpu.stat").read_text().splitlines())
        if self.unified:
            throttled_s, cpu_s = int(stat.get("throttled_usec", 0)) / 1e6, int(stat["usage_usec"]) / 1e6
        else:
            throttled_s = int(stat["throttled_time"]) / 1e9
            cpu_s = int((self.usage / "cpuacct.usage").read_text()) / 1e9
        return Reading(int(stat.get("nr_periods", 0)), int(stat.get("nr_throttled", 0)), throttled_s, cpu_s)

    def quota(self) -> float | None:
        """Return the container's own quota in cores; None if it has none."""
        if self.unified:
            quota, period = (self.cpu / "cpu.max").read_text().split()
        else:
            quota, period = ((self.cpu / f"cpu.cfs_{name}_us").read_text().strip() for name in ("quota", "period"))
        return None if quota in ("max", "-1") else int(quota) / int(period)

    def limit(self, cores: float | None) -> None:
        """Give the container so many cores a period, or no quota at all.

        The pod's own group is freed of its quota: only one of the two may bite.
        """
        quota = None if cores is None else round(cores * PERIOD_US)
        for path, wanted in ((self.cpu.parent, None), (self.cpu, quota)):
            if self.unified:
                (path / "cpu.max").write_text(f"{'max' if wanted is None else wanted} {PERIOD_US}")
            else:
                (path / "cpu.cfs_quota_us").write_text(str(-1 if wanted is None else wanted))

    def pin(self, cores: str) -> None:
        """Let the container run on these cores only, such as `0` or `0-1`, as the static CPU manager does."""
        (self.cpuset / "cpuset.cpus").write_text(cores)
