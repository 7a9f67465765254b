"""The client looks at itself: CPU time, its cgroup's quota, and how late its event loop is."""

import asyncio
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from experiment.measure.client import ClientUse
from experiment.measure.part import Distribution

TICK_S = 0.02


@dataclass(frozen=True)
class Throttling:
    """What the kernel's bandwidth control counted for a cgroup."""

    periods: int
    throttled_periods: int
    throttled_s: float


@dataclass(frozen=True)
class Cgroup:
    """The cgroup of this process, of version 1 or 2; without a directory nothing is known."""

    directory: Path | None
    version: int = 2

    @classmethod
    def of_this_process(cls, proc: Path = Path("/proc/self/cgroup"), mount: Path = Path("/sys/fs/cgroup")) -> "Cgroup":
        """Find it. In a container the mount is the container's own cgroup, whatever path the kernel names."""
        try:
            lines = [line.split(":", 2) for line in proc.read_text().splitlines()]
        except OSError:
            return cls(None)
        one = [(mount / sub, path) for _, names, path in lines if "cpu" in names.split(",") for sub in _subs(names)]
        two = [(mount, path) for number, names, path in lines if number == "0" and not names]
        for version, places in ((1, one), (2, two)):
            for root, path in places:
                for directory in (root / path.lstrip("/"), root):
                    if (directory / "cpu.stat").is_file():
                        return cls(directory, version)
        return cls(None)

    def throttling(self) -> Throttling | None:
        """Return the counts so far; none if this cgroup has no quota or does not tell."""
        if self.directory is None:
            return None
        try:
            text = (self.directory / "cpu.stat").read_text()
            counts = {key: int(value) for key, value in (line.split() for line in text.splitlines())}
            seconds = counts["throttled_usec"] / 1e6 if self.version == 2 else counts["throttled_time"] / 1e9
            return Throttling(counts["nr_periods"], counts["nr_throttled"], seconds)
        except (OSError, KeyError, ValueError):
            return None

    def quota_cores(self) -> float | None:
        """Return the quota in cores; none if there is none."""
        if self.directory is None:
            return None
        try:
            if self.version == 2:
                quota, period = (self.directory / "cpu.max").read_text().split()
            else:
                quota, period = (
                    (self.directory / name).read_text().strip() for name in ("cpu.cfs_quota_us", "cpu.cfs_period_us")
                )
            return int(quota) / int(period) if quota.isdigit() and int(period) else None
        except (OSError, ValueError):
            return None


def _subs(names: str) -> tuple[str, ...]:
    return (names, "cpu")


class SelfWatch:
    """Watches from `begin` to `end`."""

    def __init__(
        self,
        clock: Callable[[], float],
        cgroup: Cgroup | None = None,
        cpu: Callable[[], float] = time.process_time,
    ) -> None:
        self._clock = clock
        self._cgroup = cgroup or Cgroup.of_this_process()
        self._cpu = cpu
        self._lags: list[float] = []
        self._timer: asyncio.TimerHandle | None = None

    def begin(self, streaming: Callable[[], bool] = lambda: True) -> None:
        """Start to count; how late the loop is counts while `streaming` only, for else nothing waits for it."""
        self._lags, self._streaming = [], streaming
        self._begun_s, self._begun_cpu_s = self._clock(), self._cpu()
        self._throttled = self._cgroup.throttling()
        self._arm()

    def end(self, late_s: Iterable[float], read_late_s: Iterable[float | None] = ()) -> ClientUse:
        """Return what was used since `begin`.

        Args:
            late_s: how late each request was sent that was due at a moment.
            read_late_s: how long after the kernel each piece was read; none for those that it did not stamp.
        """
        read = list(read_late_s)
        if self._timer is not None:
            self._timer.cancel()
        before, after = self._throttled, self._cgroup.throttling()
        return ClientUse(
            wall_s=max(0.0, self._clock() - self._begun_s),
            cpu_s=max(0.0, self._cpu() - self._begun_cpu_s),
            quota_cores=self._cgroup.quota_cores(),
            periods=after.periods - before.periods if before and after else None,
            throttled_periods=after.throttled_periods - before.throttled_periods if before and after else None,
            throttled_s=max(0.0, after.throttled_s - before.throttled_s) if before and after else None,
            lag_s=Distribution.of(self._lags),
            late_s=Distribution.of(late_s),
            read_late_s=None if None in read else Distribution.of(read),
        )

    def _arm(self) -> None:
        loop = asyncio.get_running_loop()
        self._due_s, self._counts = self._clock() + TICK_S, self._streaming()
        self._timer = loop.call_later(TICK_S, self._tick)

    def _tick(self) -> None:
        if self._counts and self._streaming():
            self._lags.append(max(0.0, self._clock() - self._due_s))
        self._arm()
