"""Records as a run of the posts would have left them, from a few numbers of their text."""

from collections.abc import Mapping, Sequence
from typing import Any

from experiment.measure.figures import TestFigures
from experiment.measure.load import LoadFigures
from experiment.measure.pods import Agent, Cpu, Interface, Memory, Pod, PodCounters, Pods, uses
from experiment.record import Figures, RepeatRecord, Reply, Stamps, Tokens
from tests.benchmark.records import REAL, repeat, request

GIB = 2**30


def reply(prompt: int, output: int, *, ttft_s: float, token_s: float) -> Reply:
    """One token a chunk, sent at 1000.0."""
    chunks = tuple(1000.0 + ttft_s + number * token_s for number in range(output))
    stamps = Stamps(sent_s=1000.0, headers_s=1000.0, chunks_s=chunks, end_s=chunks[-1])
    tokens = Tokens(prompt=prompt, output=output, cached=None)
    return Reply(finish_reason="length", tokens=tokens, stamps=stamps, figures=Figures.of(stamps, output))


def counters(
    at_s: float, cpu_s: float = 0.0, moved_bytes: int = 0, memory: Mapping[str, int | None] | None = None
) -> PodCounters:
    link = Interface(received_bytes=moved_bytes, received_packets=0, sent_bytes=0, sent_packets=0)
    nothing: dict[str, int | None] = {
        "used_bytes": 0, "process_bytes": 0, "page_cache_bytes": 0, "shared_bytes": 0, "limit_bytes": None,
        "out_of_memory_kills": 0,
    }  # fmt: skip
    return PodCounters(
        asked_s=at_s,
        answered_s=at_s,
        monotonic_s=at_s,
        cgroup=2,
        cpu=Cpu(used_s=cpu_s, periods=0, throttled_periods=0, throttled_s=0.0, quota_cores=6.0),
        memory=Memory.model_validate(nothing | dict(memory or {})),
        network={"lo": link, "eth0": link},
        agent=Agent(cpu_s=0.0, resident_bytes=None),
    )


def pod(name: str, seconds: float, *, cpu_s: float = 0.0, moved_bytes: int = 0) -> Pod:
    """A pod of a group of two, looked into at both ends of so many seconds; the worker's name ends in -1."""
    return Pod(
        name=name, uid=name, role="worker" if name.endswith("-1") else "leader", group=0, node=name,
        instance_type="m7g.2xlarge", zone=None, image="i", image_id="i",
        before=counters(0.0), after=counters(seconds, cpu_s, moved_bytes),
    )  # fmt: skip


def record(
    kind: str, number: int, replies: Sequence[Reply], *, value: int | None = None, pods: Sequence[Pod] = (), **more: Any
) -> RepeatRecord:
    requests = tuple(request(one, user=user) for user, one in enumerate(replies))
    seen = Pods(pods=tuple(pods))
    figures = TestFigures(
        load=LoadFigures.of(requests) if requests else None,
        pods=uses(seen, sum(one.tokens.output for one in replies)),
    )
    fields: dict[str, Any] = {
        "test": kind, "test_kind": kind, "cell": kind if value is None else f"{kind}-{value}", "value": value,
        "requests": requests, "figures": figures, "pods": seen, "engine": REAL,
    }  # fmt: skip
    return repeat(number, **(fields | more))
