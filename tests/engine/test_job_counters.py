"""The benchmark's Job in a real cluster: it looks into every engine pod, kills them, and knows which replica served."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from experiment.record import RepeatRecord, parse_record
from tests.engine.command import splitbed

pytestmark = [pytest.mark.engine, pytest.mark.long]


@pytest.fixture(autouse=True)
def down(own_home: Path) -> Iterator[None]:
    yield
    splitbed(own_home, "cluster", "down")


def records(home: Path, stack: str, where: str = "*.json") -> list[RepeatRecord]:
    """Return the records of the newest run of a rehearsed stack in the order of measuring."""
    runs = (home / "rehearsals" / "local" / stack / "results").iterdir()
    newest = max(runs, key=lambda run: run.stat().st_mtime)
    found = [parse_record(path.read_bytes()) for path in newest.glob(f"*/{where}")]
    return sorted((one for one in found if isinstance(one, RepeatRecord)), key=lambda one: one.started_at)


def test_every_pod_is_counted_and_pods_of_a_split_are_killed(own_home: Path) -> None:
    tests = (
        "[{kind: idle, seconds: 3, repeats: 1}, {kind: one-user, output_tokens: 60, repeats: 2}, "
        "{kind: loss, victims: [leader, worker], users: 2, after_s: 6, seconds: 30, output_tokens: 20}]"
    )
    status, _, said = splitbed(
        own_home, "rehearse", "--stack=rehearsal-split", f"--set=benchmark.tests={tests}", "--json"
    )

    assert status == 0, said
    measured = records(own_home, "rehearsal-split")
    assert sorted(record.cell for record in measured) == ["idle", "loss-leader", "loss-worker", "one-user", "one-user"]
    for record in measured:
        assert record.proof is not None
        assert {"pods", "places", "arguments", "servers"} <= set(record.proof.proven), record.proof.unproven
        assert all("--pipeline-parallel-size=2" in argv for argv in record.proof.arguments.values())
        leader, worker = record.pods.pods
        assert (leader.role, worker.role) == ("leader", "worker")
        assert leader.node != worker.node
        if record.test_kind == "loss":
            killed = {"loss-leader": leader, "loss-worker": worker}[record.cell]
            assert (record.killed, killed.unknown) == (killed.name, "the pod is gone")
            assert record.figures.outage is not None
            assert record.figures.outage.failed > 0
            continue
        assert (record.disturbed, record.unwatched) == ((), ())
        for pod, use in zip((leader, worker), record.figures.pods, strict=True):
            assert pod.unknown is None
            assert pod.before is not None
            assert pod.after is not None
            assert pod.after.cpu.used_s is not None
            assert pod.before.cpu.used_s is not None
            assert pod.after.cpu.used_s > pod.before.cpu.used_s, "the agent's own answer, if nothing else"
            assert pod.after.cpu.periods is not None
            assert pod.after.cpu.quota_cores == 1
            assert pod.after.memory.process_bytes is not None
            assert pod.after.memory.page_cache_bytes is not None
            assert pod.after.memory.limit_bytes == 1024**3
            assert 0 < pod.after.memory.process_bytes < 1024**3
            assert pod.after.agent.cpu_s > pod.before.agent.cpu_s
            assert use.cpu_s is not None
            assert use.cpu_s >= use.agent_cpu_s * 0.5
            if record.test_kind != "idle":
                assert use.sent_bytes > 0, "stages talk to each other over the pod's network"
    undisturbed = [record for record in measured if record.test_kind != "loss"]
    assert all(record.result == "finished" for record in undisturbed)


def test_replicas_are_asked_directly_and_each_connections_replica_is_known(own_home: Path) -> None:
    tests = (
        "[{kind: follow-up, history_tokens: 600, reply_tokens: 20, output_tokens: 20, repeats: 2, "
        "routes: [service, replica]}, {kind: concurrency, users: [4], output_tokens: 100, repeats: 2}]"
    )
    status, _, said = splitbed(
        own_home,
        "rehearse",
        "--stack=rehearsal-single",
        "--set=topology={kind: replicas, count: 2}",
        f"--set=benchmark.tests={tests}",
        "--json",
    )

    assert status == 0, said
    measured = records(own_home, "rehearsal-single")
    replicas = {f"http://exp-rehearsal-single-{k}.exp-rehearsal-single.exp-rehearsal-single.svc:8000" for k in (0, 1)}
    for record in measured:
        assert (record.disturbed, record.unwatched) == ((), ())
        assert len(record.pods.pods) == len(record.counters.servers) == 2
        for request in record.requests:
            assert request.served_by in replicas, json.dumps(record.model_dump(mode="json"))
            if record.value == "replica":
                assert request.served_by == request.address
            else:
                assert request.address not in replicas
    by_connection = {
        (record.cell, record.repeat, one.connection, one.served_by) for record in measured for one in record.requests
    }
    assert len(by_connection) == len({key[:3] for key in by_connection}), "one replica for each connection"
