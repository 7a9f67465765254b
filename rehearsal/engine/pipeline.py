"""How long a step takes: a batch passes the stages one after the other, each stage takes one batch at a time.

With a CPU quota a stage stands still once it has used up its CPU time of the period. The leader also waits actively
(it holds the API server and the engine's loop), so it is throttled first.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

from rehearsal.engine.profile import Profile
from rehearsal.engine.scheduler import Chunk

_NOTHING_S = 1e-9


@dataclass
class Quota:
    """A stage's CPU time in periods, as the kernel's bandwidth control counts it. Times in seconds."""

    quota_s: float
    period_s: float
    periods: int = 0
    throttled: int = 0
    _period: int = -1
    _left_s: float = 0.0
    _stood: bool = False

    def spend(self, start: float, seconds: float, cores: float) -> float:
        """Compute for `seconds` on `cores` from `start` on; return when that is done, pauses included."""
        self._open(start)
        now = start
        while seconds > _NOTHING_S:
            end = (self._period + 1) * self.period_s
            run = max(0.0, min(seconds, self._left_s / cores, end - now))
            self._left_s -= run * cores
            seconds -= run
            now += run
            if seconds > _NOTHING_S and self._left_s <= _NOTHING_S:
                self._stand()
            if seconds > _NOTHING_S:
                now = end
                self._begin(self._period + 1)
        return now

    def wait(self, start: float, end: float, cores: float) -> None:
        """Wait actively from `start` to `end`, using `cores` for as long as the quota lasts."""
        self._open(start)
        now = start
        while now < end - _NOTHING_S:
            until = min(end, (self._period + 1) * self.period_s)
            self._use((until - now) * cores)
            now = until
            if now < end - _NOTHING_S:
                self._begin(self._period + 1)

    def charge(self, now: float, seconds: float) -> None:
        """Take CPU time that others in the same cgroup use."""
        self._open(now)
        self._use(seconds)

    def _use(self, seconds: float) -> None:
        """Take CPU time in the open period; what is more than is left is lost to standing still."""
        self._left_s -= seconds
        if self._left_s < 0:
            self._left_s = 0.0
            self._stand()

    def _open(self, now: float) -> None:
        period = int(now // self.period_s)
        if period > self._period:
            self._begin(period)

    def _begin(self, period: int) -> None:
        self._period, self._left_s, self._stood = period, self.quota_s, False
        self.periods += 1

    def _stand(self) -> None:
        self.throttled += not self._stood
        self._stood = True


@dataclass
class Stage:
    """One stage: when it is free again, and its quota if it has one."""

    free_s: float = 0.0
    quota: Quota | None = None
    spin_cores: float = 0.0


@dataclass
class Pipeline:
    """The stages of one engine; `tensor` ranks share each of them."""

    profile: Profile
    stages: int = 1
    tensor: int = 1
    seed: int = 0
    line: list[Stage] = field(default_factory=list)

    def __post_init__(self) -> None:
        profile = self.profile
        self._dice = random.Random(f"pipeline/{self.seed}")  # noqa: S311
        self._share = profile.step_share_s(stages=self.stages, tensor=self.tensor)
        for index in range(self.stages):
            spin = profile.worker_spin_cores if index else profile.leader_spin_cores
            quota = None
            if profile.cpu_quota_s is not None:
                quota = Quota(profile.cpu_quota_s, profile.cpu_period_s)
            self.line.append(Stage(quota=quota, spin_cores=spin))

    def work_s(self, chunks: Sequence[Chunk]) -> float:
        """Return how long one rank that held the whole model would compute this step, without jitter."""
        profile = self.profile
        seconds = profile.step_s
        prefills = [chunk for chunk in chunks if chunk.is_prefill]
        seconds += profile.sequence_s * (len(chunks) - len(prefills))
        if prefills:
            seconds += profile.prefill_batch_s
        for chunk in prefills:
            context = chunk.before + chunk.tokens / 2
            seconds += chunk.tokens * (profile.prefill_token_s + profile.prefill_context_s * context / 1000)
        return seconds

    def enter(self, chunks: Sequence[Chunk], now: float) -> float:
        """Send a step through all stages from `now` on; return when its tokens are back at the engine."""
        work = self.work_s(chunks) * self._share
        at = now
        if self.line[0].quota is not None:
            self.line[0].quota.charge(now, self.profile.engine_cpu_s)
        for stage in self.line:
            start = max(at, stage.free_s)
            seconds = work * max(0.5, 1 + self.profile.jitter * self._dice.gauss(0, 1))
            if start - stage.free_s > self.profile.wake_after_s:
                seconds += self.profile.wake_s
            if stage.quota is None:
                stage.free_s = start + seconds
            else:
                # Between two steps of a busy engine the rank waits for the next one; an idle engine sleeps.
                if stage.spin_cores and start - stage.free_s < 1:
                    stage.quota.wait(stage.free_s, start, stage.spin_cores)
                stage.free_s = stage.quota.spend(start, seconds, self.profile.compute_cores)
            at = stage.free_s + (self.profile.hop_s if self.stages > 1 else 0)
        return at
