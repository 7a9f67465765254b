"""Weights on real kubelets: fetched once a node, gone on with after a kill, and refused in a sentence.

The hub is a double in the cluster's own network, which has no way out.
"""

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from kubernetes import client, config

from experiment import machines
from rehearsal import cluster as clusters
from rehearsal.cluster.layout import API_ADDRESS
from tests.components.pod.weights.hubserver import COMMIT, LARGEST
from tests.engine.command import splitbed
from tests.engine.standing import standing
from tests.engine.waiting import eventually
from tests.recording import ROOT

pytestmark = pytest.mark.engine

STACK = "rehearsal-split"
NAMESPACE = f"exp-{STACK}"
NODES = ("engine-0", "engine-1")
PORT = 14400
TOKEN = "hf_planted0123456789"  # noqa: S105  opens nothing
FILES = ["config.json", "model.safetensors", "tokenizer.json"]


@dataclass
class Double:
    """The hub, and what it was asked."""

    directory: Path

    def control(self, **values: Any) -> None:
        part = self.directory / "control.json.part"
        part.write_text(json.dumps(values))
        part.rename(self.directory / "control.json")

    @property
    def asked(self) -> list[dict[str, str]]:
        log = self.directory / "asked.jsonl"
        return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []

    def fetched(self, since: int = 0) -> list[str]:
        """Return the files that pods asked the hub for, in order of their names."""
        return sorted(
            one["path"].rpartition("/")[2]
            for one in self.asked[since:]
            if one["host"] == "hub" and f"{COMMIT}/" in one["path"] and one["range"] != "bytes=0-0"
        )


@dataclass
class Rehearsed:
    """A cluster on which a stack was measured whose nodes keep their weights, and is still up."""

    core: Any
    hub: Double
    weights: Mapping[str, Path]


@contextmanager
def serving(cluster: clusters.Cluster, directory: Path) -> Iterator[Double]:
    double = Double(directory)
    double.control()
    pid = cluster.pids()["kube-apiserver"]
    argv = [
        "nsenter",
        f"--net=/proc/{pid}/ns/net",
        "--",
        sys.executable,
        "-m",
        "tests.components.pod.weights.hubserver",
    ]
    with subprocess.Popen([*argv, API_ADDRESS, str(PORT), str(directory)], cwd=ROOT) as process:
        try:
            yield double
        finally:
            process.kill()


@pytest.fixture(scope="module")
def rehearsed(own_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rehearsed]:
    with standing(own_home) as cluster:
        directories = {node: cluster.layout.on_node(node, machines.WEIGHTS) for node in NODES}
        with serving(cluster, tmp_path_factory.mktemp("hub")) as hub:
            settings = {
                "model.weights": {"source": "hub", "cache": "node"},
                "model.revision": COMMIT,
                "engine.env": {"HF_ENDPOINT": f"http://{API_ADDRESS}:{PORT}"},
            }
            status, _, said = splitbed(
                own_home,
                *("rehearse", "--stack", STACK, "--keep"),
                *(f"--set={path}={json.dumps(value)}" for path, value in settings.items()),
            )
            assert status == 0, said
            with config.new_client_from_config(str(cluster.kubeconfig)) as api:
                yield Rehearsed(client.CoreV1Api(api), hub, directories)


def engines(core: Any) -> list[Any]:
    return list(core.list_namespaced_pod(NAMESPACE, label_selector="leaderworkerset.sigs.k8s.io/name").items)


def test_each_node_fetched_its_weights_once(rehearsed: Rehearsed) -> None:
    assert rehearsed.hub.fetched() == sorted(2 * FILES)
    assert {pod.spec.node_name for pod in engines(rehearsed.core)} == set(NODES)
    for directory in rehearsed.weights.values():
        place = directory / "hub" / "google--gemma-3-1b-it" / COMMIT
        assert (place / "model.safetensors").stat().st_size == LARGEST
        assert not list(place.glob("*.part"))


def test_a_group_that_is_made_anew_fetches_nothing(rehearsed: Rehearsed) -> None:
    core, asked = rehearsed.core, len(rehearsed.hub.asked)
    before = {pod.metadata.uid for pod in engines(core)}
    leader = f"{NAMESPACE}-0"
    core.delete_namespaced_pod(leader, NAMESPACE, grace_period_seconds=0)

    def anew() -> bool:
        pods = engines(core)
        ready = [
            pod
            for pod in pods
            if any(one.type == "Ready" and one.status == "True" for one in pod.status.conditions or ())
        ]
        return len(ready) == 2 and not before & {pod.metadata.uid for pod in pods}

    eventually(anew, "the group is ready again")
    assert len(rehearsed.hub.asked) == asked, "not even a question"
    assert "nothing is fetched" in core.read_namespaced_pod_log(leader, NAMESPACE, container="weights")


@contextmanager
def fetching(core: Any, name: str, node: str, revision: str, **more: Any) -> Iterator[None]:
    """A pod that only fetches, as the engine's do, at another revision, and so into another directory."""
    (leader, *_) = engines(core)
    spec = client.ApiClient().sanitize_for_serialization(leader.spec)
    (container, *_) = spec["initContainers"]
    argument = container["args"].index("--into") + 1
    container["args"][argument] = container["args"][argument].replace(COMMIT, revision)
    container["args"][container["args"].index("--revision") + 1] = "main"
    container["env"] += more.pop("env", [])
    container["resources"] = {}
    container["volumeMounts"] = [one for one in container["volumeMounts"] if "serviceaccount" not in one["mountPath"]]
    pod = {
        "metadata": {"name": name},
        "spec": {
            "restartPolicy": "Never",
            "terminationGracePeriodSeconds": 0,
            "automountServiceAccountToken": False,
            "nodeSelector": {"kubernetes.io/hostname": node},
            "securityContext": spec["securityContext"],
            "containers": [container],
            "volumes": spec["volumes"],
        },
    }
    core.create_namespaced_pod(NAMESPACE, pod)
    try:
        yield
    finally:
        delete(core, name)


def delete(core: Any, name: str) -> None:
    core.delete_namespaced_pod(name, NAMESPACE, grace_period_seconds=0)
    listed = partial(core.list_namespaced_pod, NAMESPACE)
    eventually(lambda: name not in {one.metadata.name for one in listed().items}, f"{name} is gone")


def phase(core: Any, name: str) -> str:
    return str(core.read_namespaced_pod(name, NAMESPACE).status.phase)


def test_what_a_killed_pod_has_fetched_is_gone_on_with(rehearsed: Rehearsed) -> None:
    core, hub = rehearsed.core, rehearsed.hub
    hub.control(pace=LARGEST // 20)
    part = rehearsed.weights["engine-0"] / "hub" / "google--gemma-3-1b-it" / "killed" / "model.safetensors.part"
    with fetching(core, "first", "engine-0", "killed"):
        eventually(lambda: part.exists() and part.stat().st_size > LARGEST // 10, "some of it has come")
    there, asked = part.stat().st_size, len(hub.asked)
    assert there < LARGEST
    hub.control(pace=0)
    with fetching(core, "second", "engine-0", "killed"):
        eventually(lambda: phase(core, "second") == "Succeeded", "all of it has come")
    (rest,) = (one for one in hub.asked[asked:] if one["host"] == "store")
    begin = int(rest["range"].removeprefix("bytes=").removesuffix("-"))
    assert there <= begin < LARGEST, "its container may have lived a moment longer"
    assert part.with_suffix("").stat().st_size == LARGEST


def test_two_pods_of_one_node_fetch_once(rehearsed: Rehearsed) -> None:
    core, hub = rehearsed.core, rehearsed.hub
    hub.control(pace=LARGEST // 3)
    asked = len(hub.asked)
    names = ("one", "other")
    with fetching(core, "one", "engine-1", "shared"), fetching(core, "other", "engine-1", "shared"):
        eventually(lambda: {phase(core, name) for name in names} == {"Succeeded"}, "both are done")
    hub.control()
    assert hub.fetched(asked) == FILES


def test_a_gated_refusal_is_a_sentence(rehearsed: Rehearsed) -> None:
    core, hub = rehearsed.core, rehearsed.hub
    hub.control(token=TOKEN, let_in=False)
    with fetching(core, "refused", "engine-0", "gated", env=[{"name": "HF_TOKEN", "value": TOKEN}]):
        eventually(lambda: phase(core, "refused") == "Failed", "it gives up")
        (status,) = core.read_namespaced_pod("refused", NAMESPACE).status.container_statuses
        log = core.read_namespaced_pod_log("refused", NAMESPACE)
    hub.control(token=None, let_in=True)
    said = status.state.terminated.message
    assert said.startswith(
        "google/gemma-3-1b-it at main cannot be fetched, because it is gated and this token's owner has not been let in"
    )
    assert log == f"{said}\n"
    assert TOKEN not in said
