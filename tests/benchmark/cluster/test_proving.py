import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchmark.cluster.proving import ProofError
from benchmark.cluster.witness import ClusterWitness
from benchmark.readiness import NotReadyError
from experiment.asked import Asked
from experiment.measure.proof import Proof
from tests.benchmark.cluster.double import IMAGE, Kubernetes, asked, in_cluster

SPLIT = asked(1, 2)
Change = Callable[[Kubernetes], Any]


def proof(tmp_path: Path, shape: Asked = SPLIT, change: Change = lambda _: None, own_node: str = "system-0") -> Proof:
    found: list[Proof] = []

    async def main(kubernetes: Kubernetes) -> None:
        change(kubernetes)
        witness = ClusterWitness(kubernetes.client(), shape, kubernetes.loop.time, own_node)
        found.append(await witness.prove([], 60, lambda line: None))

    in_cluster(tmp_path, SPLIT, main)
    return found[0]


def test_what_is_as_asked_for_is_proven(tmp_path: Path) -> None:
    proven = proof(tmp_path)
    assert proven.proven == ("pods", "places", "images", "arguments", "servers")
    assert proven.unproven == ()
    assert proven.arguments["exp-lab-0-1"] == (
        *("vllm", "serve", "org/model", "--master-addr=exp-lab-0.exp-lab.exp-lab", "--node-rank=1", "--headless"),
    )


def pod(kubernetes: Kubernetes) -> dict[str, Any]:
    return kubernetes.pods["exp-lab-0-1"]


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        (lambda one: one.place_anew(1, 0), "pods: 1 group(s) of 2 asked for, found exp-lab-0, exp-lab-0-1, exp-lab-1"),
        (
            lambda one: pod(one)["metadata"]["labels"].update(
                {"leaderworkerset.sigs.k8s.io/template-revision-hash": "def"}
            ),
            "pods: group 0 is of several revisions: abc, def",
        ),
        (lambda one: pod(one)["spec"].update(nodeName="node-0-0"), "places: pods of group 0 share a node"),
        (
            lambda one: pod(one)["spec"]["containers"][0].update(image="registry.example/engine:2"),
            f"images: pod exp-lab-0-1 has registry.example/engine:2, asked for was {IMAGE}",
        ),
        (
            lambda one: pod(one)["status"]["containerStatuses"][0].update(imageID=IMAGE.replace("a" * 64, "b" * 64)),
            "images: pod exp-lab-0-1 runs registry.example/engine@sha256:bbbb",
        ),
        (
            lambda one: one.counted("exp-lab-0-1", started=["vllm", "serve", "org/model", "--dtype=float16"]),
            "arguments: pod exp-lab-0-1 was started with --dtype=float16 where --master-addr=",
        ),
    ],
)
def test_what_is_otherwise_ends_the_run(tmp_path: Path, change: Change, wrong: str) -> None:
    with pytest.raises(ProofError, match=re.escape(wrong)) as error:
        proof(tmp_path, change=change)
    assert error.value.remedy.startswith("Bring the stack up again")


@pytest.mark.parametrize(
    ("shape", "own_node", "wrong"),
    [
        (asked(1, 2, instance="m7g.4xlarge"), "s", "node node-0-0 is a m7g.2xlarge, asked for was m7g.4xlarge"),
        (asked(1, 2, zones=("us-east-1b",)), "s", "node node-0-0 is in us-east-1a, asked for was us-east-1b"),
        (SPLIT, "node-0-1", "the benchmark shares node node-0-1 with the engine"),
    ],
)
def test_places_are_held_against_the_stacks(tmp_path: Path, shape: Asked, own_node: str, wrong: str) -> None:
    with pytest.raises(ProofError, match=f"places: {wrong}"):
        proof(tmp_path, shape, own_node=own_node)


@pytest.mark.parametrize(
    ("change", "about", "unproven"),
    [
        (lambda one: one.allowed.difference_update({("get", "nodes")}), "nodes", "nodes: The API server refuses"),
        (
            lambda one: one.loop.hosts.pop(one.address("exp-lab-0-1")),
            "arguments",
            "arguments: of pod exp-lab-0-1 as it runs: the agent at",
        ),
        (
            lambda one: [
                pod["status"]["containerStatuses"][0].update(imageID="sha256:" + "c" * 64) for pod in one.pods.values()
            ],
            "images",
            "images: the runtime names none by digest for pod exp-lab-0",
        ),
    ],
)
def test_what_cannot_be_seen_is_not_proven(tmp_path: Path, change: Change, about: str, unproven: str) -> None:
    found = proof(tmp_path, change=change)
    assert about not in found.proven
    assert any(one.startswith(unproven) for one in found.unproven), found.unproven


def test_it_waits_until_all_pods_are_there_and_ready(tmp_path: Path) -> None:
    said: list[str] = []

    async def main(kubernetes: Kubernetes) -> None:
        worker = kubernetes.pods.pop("exp-lab-0-1")
        kubernetes.pods["exp-lab-0"]["status"]["conditions"][0]["status"] = "False"

        def ready() -> None:
            kubernetes.pods["exp-lab-0-1"] = worker
            kubernetes.pods["exp-lab-0"]["status"]["conditions"][0]["status"] = "True"

        kubernetes.loop.call_later(40, ready)
        witness = ClusterWitness(kubernetes.client(), SPLIT, kubernetes.loop.time, None)
        begin_s = kubernetes.loop.time()
        with pytest.raises(NotReadyError, match="1 of 2 pods are there; pod exp-lab-0 is not ready"):
            await witness.prove([], 20, said.append)
        assert (await witness.prove([], 60, said.append)).proven
        assert 40 <= kubernetes.loop.time() - begin_s < 45

    in_cluster(tmp_path, SPLIT, main)
    assert said
    assert "1 of 2 pods are there; pod exp-lab-0 is not ready" in said[0]
