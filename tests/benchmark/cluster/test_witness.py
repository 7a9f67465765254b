from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchmark.cluster.witness import ClusterWitness
from benchmark.witness import Testimony
from experiment.measure.pods import PodUse
from tests.benchmark.cluster.double import Kubernetes, asked, in_cluster

SPLIT = asked(1, 2)
Change = Callable[[Kubernetes], Any]


def told_of(tmp_path: Path, change: Change, before: Change = lambda _: None) -> Testimony:
    """What the witness tells of a split over two pods of which something changes between its two looks."""
    told: list[Testimony] = []

    async def main(kubernetes: Kubernetes) -> None:
        before(kubernetes)
        witness = ClusterWitness(kubernetes.client(), SPLIT, kubernetes.loop.time, "system-0")
        await witness.before()
        change(kubernetes)
        told.append(await witness.after())

    in_cluster(tmp_path, SPLIT, main)
    return told[0]


def pod(kubernetes: Kubernetes, name: str = "exp-lab-0-1") -> dict[str, Any]:
    return kubernetes.pods[name]


def node(kubernetes: Kubernetes) -> dict[str, Any]:
    return kubernetes.nodes["node-0-1"]


def test_nothing_is_said_where_nothing_changed(tmp_path: Path) -> None:
    told = told_of(tmp_path, lambda kubernetes: None)
    assert (told.disturbed, told.unwatched) == ((), ())
    assert [one.name for one in told.pods.pods] == ["exp-lab-0", "exp-lab-0-1"]
    assert [one.role for one in told.pods.pods] == ["leader", "worker"]
    (place,) = {(one.instance_type, one.zone) for one in told.pods.pods}
    assert place == ("m7g.2xlarge", "us-east-1a")


def test_counters_of_every_pod_are_recorded_the_workers_too(tmp_path: Path) -> None:
    def change(kubernetes: Kubernetes) -> None:
        kubernetes.counted("exp-lab-0", cpu__used_s=5.0, cpu__periods=30, cpu__throttled_periods=6)
        kubernetes.counted("exp-lab-0-1", network__eth0__sent_bytes=1200, network__lo__sent_bytes=9999)

    leader, worker = told_of(tmp_path, change).pods.pods
    used = PodUse.of(leader, tokens=8)
    assert used is not None
    assert (used.cpu_s, used.throttled_share, used.cpu_per_token_s) == (4.0, 0.25, 0.5)
    used = PodUse.of(worker, tokens=8)
    assert used is not None
    assert (used.sent_bytes, used.sent_bytes_per_token, used.cpu_s) == (1000, 125, 0)


def replaced(kubernetes: Kubernetes) -> None:
    kubernetes.place_anew(0, 1)


def restarted(kubernetes: Kubernetes) -> None:
    pod(kubernetes)["status"]["containerStatuses"][0]["restartCount"] = 2


def unready(kubernetes: Kubernetes) -> None:
    pod(kubernetes)["status"]["conditions"][0]["status"] = "False"


def flapped(kubernetes: Kubernetes) -> None:
    pod(kubernetes)["status"]["conditions"][0]["lastTransitionTime"] = "2026-11-30T20:30:00Z"


def booted(kubernetes: Kubernetes) -> None:
    node(kubernetes)["status"]["nodeInfo"]["bootID"] = "another"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (replaced, "pod exp-lab-0-1 is another one: uid-2 was deleted"),
        (lambda one: one.pods.pop("exp-lab-0-1"), "pod exp-lab-0-1 is gone"),
        (lambda one: one.place_anew(1, 0), "pod exp-lab-1 is new"),
        (restarted, "pod exp-lab-0-1: its containers were restarted 2 times"),
        (unready, "pod exp-lab-0-1 is not ready"),
        (flapped, "pod exp-lab-0-1 was not ready for some time"),
        (lambda one: pod(one)["metadata"].update(deletionTimestamp="now"), "pod exp-lab-0-1 is being deleted"),
        (lambda one: pod(one)["status"].update(startTime="later"), "pod exp-lab-0-1 was started at 2026-"),
        (lambda one: pod(one)["spec"].update(nodeName="node-0-0"), "pod exp-lab-0-1 was on node node-0-1 and is on"),
        (
            lambda one: pod(one)["metadata"]["labels"].update(
                {"leaderworkerset.sigs.k8s.io/template-revision-hash": "def"}
            ),
            "pod exp-lab-0-1 is of group revision def, it was of abc",
        ),
        (lambda one: one.nodes.pop("node-0-1"), "node node-0-1 is gone"),
        (booted, "node node-0-1 was booted anew"),
        (lambda one: node(one)["spec"].update(unschedulable=True), "node node-0-1 was closed to new pods"),
        (
            lambda one: node(one)["status"]["conditions"][0].update(status="True"),
            "node node-0-1 has MemoryPressure",
        ),
        (lambda one: one.event("Pod", "exp-lab-0", "Evicted"), "pod exp-lab-0: Evicted: so it is"),
        (lambda one: one.event("Pod", "exp-lab-0", "Killing", "Normal"), "pod exp-lab-0: Killing: so it is"),
        (lambda one: one.event("Node", "node-0-0", "SystemOOM"), "node node-0-0: SystemOOM: so it is"),
        (
            lambda one: one.counted("exp-lab-0", memory__out_of_memory_kills=1),
            "pod exp-lab-0: the kernel killed a process of it for lack of memory",
        ),
    ],
)
def test_what_disturbs_is_said_with_its_reason(tmp_path: Path, change: Change, reason: str) -> None:
    told = told_of(tmp_path, change)
    assert any(one.startswith(reason) for one in told.disturbed), told.disturbed


@pytest.mark.parametrize(
    "change",
    [
        lambda one: one.event("Pod", "exp-lab-0", "Unhealthy"),
        lambda one: one.event("Pod", "exp-lab-0", "Pulled", "Normal"),
        lambda one: one.event("Pod", "somebody-elses", "Evicted"),
        lambda one: one.event("Node", "another", "SystemOOM"),
        lambda one: one.nodes["node-0-0"]["metadata"]["labels"].update(more="labels"),
    ],
)
def test_what_does_not_disturb_is_not_said(tmp_path: Path, change: Change) -> None:
    assert told_of(tmp_path, change).disturbed == ()


def test_an_event_disturbs_when_it_is_new_or_happens_again(tmp_path: Path) -> None:
    def old(kubernetes: Kubernetes) -> None:
        kubernetes.event("Pod", "exp-lab-0", "BackOff", count=3)

    assert told_of(tmp_path, lambda one: None, old).disturbed == ()
    again = told_of(tmp_path, lambda one: one.events[0].update(count=4), old)
    assert again.disturbed == ("pod exp-lab-0: BackOff: so it is",)


def test_counters_of_a_pod_that_was_replaced_are_not_its_successors(tmp_path: Path) -> None:
    def change(kubernetes: Kubernetes) -> None:
        address = kubernetes.address("exp-lab-0-1")
        kubernetes.place_anew(0, 1)
        kubernetes.pods["exp-lab-0-1"]["status"]["podIP"] = address

    worker = told_of(tmp_path, change).pods.pods[1]
    assert (worker.uid, worker.after, worker.unknown) == ("uid-2", None, "the pod is gone")


@pytest.mark.parametrize(
    ("change", "unwatched"),
    [
        (lambda one: one.allowed.difference_update({("get", "nodes")}), "nodes: The API server refuses /api/v1/nodes"),
        (lambda one: one.allowed.difference_update({("list", "events")}), "events of pods: The API server refuses"),
        (lambda one: one.allowed.clear(), "pods: The API server refuses"),
        (lambda one: one.faults.extend(["slow"] * 99), "pods: The API server does not answer"),
        (
            lambda one: one.loop.hosts.pop(one.address("exp-lab-0")),
            "counters of pod exp-lab-0: the agent at http://10.0.0.1:8001: no connection:",
        ),
        (
            lambda one: one.counters[one.address("exp-lab-0")].update(cgroup=3),
            "counters of pod exp-lab-0: http://10.0.0.1:8001 does not answer as an agent: cgroup:",
        ),
    ],
)
def test_what_cannot_be_seen_is_unknown_and_no_disturbance(tmp_path: Path, change: Change, unwatched: str) -> None:
    for told in (told_of(tmp_path, change), told_of(tmp_path, lambda one: None, change)):
        assert told.disturbed == ()
        assert any(one.startswith(unwatched) for one in told.unwatched), told.unwatched
        pods = told.pods
        assert pods.unknown is not None or all(
            one.before is None or one.after is None or not one.unknown for one in pods.pods
        )
