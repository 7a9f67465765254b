"""What was counted inside each engine pod around a repeat, and what the pods are."""

from typing import Literal

from pydantic import Field

from experiment.measure.part import Amount, Count, Part, Seconds

GONE = "the pod is gone"
"""What is said of a pod that another one has replaced, or none: it cannot be counted any more."""


class Cpu(Part):
    """CPU of a container's cgroup since its start; none where the kernel does not tell, as of no quota."""

    used_s: Seconds | None
    periods: Count | None = Field(description="periods of the quota in which it had work")
    throttled_periods: Count | None
    throttled_s: Seconds | None
    quota_cores: Amount | None


class Memory(Part):
    """Memory of a container's cgroup, in bytes; process memory and page cache are parts of what is used."""

    used_bytes: Count | None
    process_bytes: Count | None = Field(description="anonymous memory")
    page_cache_bytes: Count | None = Field(description="of files, shared memory not counted")
    shared_bytes: Count | None = Field(description="shared memory and memory volumes")
    limit_bytes: Count | None
    out_of_memory_kills: Count | None = Field(description="processes that the kernel killed for lack of memory")


class Interface(Part):
    """One network interface of a pod since its start."""

    received_bytes: Count
    received_packets: Count
    sent_bytes: Count
    sent_packets: Count


class Agent(Part):
    """What the counting itself took so far; it is part of the container's CPU and memory."""

    cpu_s: Seconds
    resident_bytes: Count | None


class PodCounters(Part):
    """One look into a pod: seconds of the client's clock when it was asked and had answered."""

    asked_s: Seconds
    answered_s: Seconds
    monotonic_s: Seconds = Field(description="by the clock of the pod's node, which is another one than the client's")
    cgroup: Literal[1, 2]
    cpu: Cpu
    memory: Memory
    network: dict[str, Interface] = Field(description="by interface; lo is the pod with itself")
    agent: Agent


class Pod(Part):
    """One pod of the engine, with its counters before and after; none of them where `unknown` says why."""

    name: str
    uid: str
    role: Literal["leader", "worker"]
    group: Count
    node: str
    instance_type: str | None
    zone: str | None
    image: str
    image_id: str
    before: PodCounters | None
    after: PodCounters | None
    unknown: str | None = None


class Pods(Part):
    """All pods of the engine, or why they are not known."""

    pods: tuple[Pod, ...] = ()
    unknown: str | None = None


class PodUse(Part):
    """What a pod took from the look before a repeat to the look after it; none where that is not known."""

    pod: str
    seconds: Seconds
    cpu_s: Seconds | None
    agent_cpu_s: Seconds
    throttled_share: Amount | None
    throttled_s: Seconds | None
    sent_bytes: Count
    received_bytes: Count
    sent_packets: Count
    received_packets: Count
    cpu_per_token_s: Seconds | None
    sent_bytes_per_token: Amount | None

    @classmethod
    def of(cls, pod: Pod, tokens: int) -> "PodUse | None":
        """Compute it by FORMULAS; none of a pod that was not looked into both times."""
        before, after = pod.before, pod.after
        if before is None or after is None:
            return None
        cpu_s = _grown(before.cpu.used_s, after.cpu.used_s)
        periods = _grown(before.cpu.periods, after.cpu.periods)
        throttled = _grown(before.cpu.throttled_periods, after.cpu.throttled_periods)
        sent = _between(before, after, "sent_bytes")
        return cls(
            pod=pod.name,
            seconds=max(0.0, after.monotonic_s - before.monotonic_s),
            cpu_s=cpu_s,
            agent_cpu_s=max(0.0, after.agent.cpu_s - before.agent.cpu_s),
            throttled_share=None if periods is None or throttled is None else throttled / periods if periods else 0.0,
            throttled_s=_grown(before.cpu.throttled_s, after.cpu.throttled_s),
            sent_bytes=sent,
            received_bytes=_between(before, after, "received_bytes"),
            sent_packets=_between(before, after, "sent_packets"),
            received_packets=_between(before, after, "received_packets"),
            cpu_per_token_s=_per_token(cpu_s, tokens),
            sent_bytes_per_token=_per_token(sent, tokens),
        )

    def over(self, idle: "PodUse", tokens: int) -> "PodUse":
        """Return what is left per token when the same pod's idle baseline, by its time, is taken off."""
        share = self.seconds / idle.seconds if idle.seconds else 0.0
        cpu_s = None if self.cpu_s is None or idle.cpu_s is None else max(0.0, self.cpu_s - share * idle.cpu_s)
        sent = max(0.0, self.sent_bytes - share * idle.sent_bytes)
        return self.model_copy(
            update={
                "cpu_per_token_s": _per_token(cpu_s, tokens),
                "sent_bytes_per_token": _per_token(sent, tokens),
            }
        )


def uses(pods: Pods, tokens: int) -> tuple[PodUse, ...]:
    """Return what each pod took that was looked into; `tokens` were received meanwhile."""
    found = (PodUse.of(pod, tokens) for pod in pods.pods)
    return tuple(use for use in found if use is not None)


def _per_token(amount: float | None, tokens: int) -> float | None:
    return amount / tokens if amount is not None and tokens else None


def _grown(before: float | None, after: float | None) -> float | None:
    return None if before is None or after is None else max(0, after - before)


def _between(before: PodCounters, after: PodCounters, what: str) -> int:
    """Return what all interfaces but the pod's own with itself counted."""
    names = (before.network.keys() & after.network.keys()) - {"lo"}
    return sum(max(0, getattr(after.network[name], what) - getattr(before.network[name], what)) for name in names)
