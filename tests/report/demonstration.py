"""A whole simulated campaign: the benchmark's own session against the stand-in engine, on a virtual clock.

`python -m tests.report.demonstration DIR` writes what the pictures of the documentation are made of: every kind of test
that the report draws, A B B A, timed as the 1B post's servers were. What happens inside pods is reckoned from the same
profiles, since there are no pods.
"""

import random
import sys
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

from experiment.kinds.alone import Idle, OneUser, PromptLength
from experiment.kinds.loads import Concurrency
from experiment.kinds.profiles import Profiles
from experiment.kinds.sharing import FollowUp, Interference, Modes
from experiment.measure.pods import Agent, Cpu, Interface, Memory, Pod, PodCounters, Pods, uses
from experiment.record import RepeatRecord
from experiment.workload import Test
from rehearsal.engine.profile import PROFILES
from tests.benchmark.lab import Lab, in_lab
from tests.benchmark.records import WHEN

TOPOLOGIES: dict[str, tuple[str, dict[str, Any], tuple[str, ...]]] = {
    "s": ("post-1b-single", {"kind": "single", "tensor": 1}, ()),
    "p": ("post-1b-split", {"kind": "split", "pipeline": 2, "tensor": 1}, ("--pipeline-parallel-size=2", "--nnodes=2")),
}
TESTS: tuple[Test, ...] = (
    Idle(kind="idle", seconds=10),
    OneUser(kind="one-user", output_tokens=60, repeats=3),
    PromptLength(kind="prompt-length", repeats=2),
    Concurrency(kind="concurrency", output_tokens=60, requests=1, repeats=2),
    Interference(kind="interference", after_s=3, repeats=3),
    FollowUp(kind="follow-up", repeats=2),
    Modes(kind="modes", starts=("together",), output_tokens=40, repeats=12),
    Profiles(kind="profiles", profiles=("chat",), rates=(0.05, 0.1, 0.2, 0.4), seconds=60),
)

SMALL: tuple[Test, ...] = (
    Idle(kind="idle", seconds=10),
    OneUser(kind="one-user", output_tokens=16, repeats=1),
    PromptLength(kind="prompt-length", prompt_tokens=(100, 400), repeats=1),
    Concurrency(kind="concurrency", users=(1, 2, 4), output_tokens=12, requests=1, repeats=1),
    Interference(kind="interference", prompt_tokens=(800,), stream_tokens=48, after_s=1, repeats=2),
    FollowUp(kind="follow-up", history_tokens=300, repeats=1),
    Modes(kind="modes", starts=("together",), output_tokens=16, repeats=8),
    Profiles(kind="profiles", profiles=("chat",), rates=(0.1, 0.8), seconds=10),
)
"""Every kind once, in a second or two."""


def demonstrate(directory: Path, turns: str = "spps", tests: Sequence[Test] = TESTS, **changes: Any) -> None:
    """Measure a turn for each letter, each engine a little faster or slower than the last.

    Args:
        directory: where each turn has a directory of its own.
        turns: letters of TOPOLOGIES.
        tests: what is measured in each.
        changes: to every record, such as an engine that claims to be real.
    """
    dice = random.Random(len(turns))  # noqa: S311  reproducible on purpose; no secret
    for number, letter in enumerate(turns):
        profile, topology, flags = TOPOLOGIES[letter]
        factor = 1 + dice.gauss(0, 0.012)
        timing = {name: getattr(PROFILES[profile], name) * factor for name in ("step_s", "prefill_token_s")}
        at = directory / f"turn-{number}"

        async def main(lab: Lab) -> None:
            engine = await lab.engine(profile, *flags, jitter=0.015, frontend_spread=0.3, **timing)  # noqa: B023
            plan = lab.plan(*tests, run=f"turn-{number}")  # noqa: B023
            await lab.session(plan, lab.serve("engine", engine), topology=topology).run()  # noqa: B023

        in_lab(at, main)
        for path in sorted(at.rglob("*.json")):
            if path.parent.name != "sessions" and not path.name.startswith("session"):
                record = RepeatRecord.model_validate_json(path.read_bytes())
                path.write_text(_finished(record, profile, number, changes).to_json())


def _finished(record: RepeatRecord, profile: str, turn: int, changes: dict[str, Any]) -> RepeatRecord:
    """Let a record have its place in the campaign, and what pods would have counted."""
    moment = WHEN + timedelta(hours=turn) + (record.started_at - record.started_at.replace(minute=0, second=0))
    tokens = sum(reply.tokens.output for reply in record.replies)
    pods = _pods(record, profile, tokens)
    figures = record.figures.model_copy(update={"pods": uses(pods, tokens)})
    return record.model_copy(update={"started_at": moment, "pods": pods, "figures": figures} | changes)


def _pods(record: RepeatRecord, profile: str, tokens: int) -> Pods:
    load = record.figures.load
    seconds = load.span_s if load is not None else 10.0
    split = record.topology is not None and record.topology["kind"] == "split"
    of = PROFILES[profile]
    prompted = sum(request.prompt.prompt_tokens for request in record.requests)
    sent = {"leader": prompted * of.prompt_token_bytes + tokens * of.generated_token_bytes if split else tokens * 300,
            "worker": tokens * 1200}  # fmt: skip
    used = seconds * (0.05 if not tokens else 0.9 if split else 1.4)
    return pods_of(seconds, {role: (used, sent[role]) for role in (("leader", "worker") if split else ("leader",))})


def pods_of(seconds: float, took: dict[str, tuple[float, int]]) -> Pods:
    """Return pods by role that took so many CPU seconds and sent so many bytes in that time."""
    return Pods(pods=tuple(
        Pod(
            name=f"serve-0{'-1' if role == 'worker' else ''}",
            uid=role,
            role=role,  # type: ignore[arg-type]  # one of two words
            group=0,
            node=f"node-{place}",
            instance_type="simulated.large",
            zone=None,
            image="standin:1",
            image_id="standin@sha256:1",
            before=_look(0.0, 0.0, 0),
            after=_look(seconds, *used),
        )
        for place, (role, used) in enumerate(took.items())
    ))  # fmt: skip


def _look(at_s: float, used_s: float, sent: int) -> PodCounters:
    return PodCounters(
        asked_s=at_s, answered_s=at_s, monotonic_s=at_s, cgroup=1,
        cpu=Cpu(used_s=used_s, periods=None, throttled_periods=None, throttled_s=None, quota_cores=None),
        memory=Memory(used_bytes=None, process_bytes=None, page_cache_bytes=None, shared_bytes=None, limit_bytes=None,
                      out_of_memory_kills=None),
        network={"eth0": Interface(received_bytes=0, received_packets=0, sent_bytes=sent, sent_packets=sent // 1400)},
        agent=Agent(cpu_s=0.0, resident_bytes=None),
    )  # fmt: skip


if __name__ == "__main__":
    demonstrate(Path(sys.argv[1]))
