"""The log shipper on real kubelets: what was written once arrives once, whoever crashes and whoever is killed.

One cluster for both destinations: a rehearsed stack whose logs go to files, and beside it the daemon set of a stack on
EKS, as the program makes it, but for the address that it sends to: there is a double of CloudWatch's endpoint, which
checks signatures and at times refuses, or loses its answer.
"""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml
from kubernetes import client, config, utils, watch
from kubernetes.client.exceptions import ApiException

from experiment import shipping
from rehearsal import cluster as clusters
from rehearsal.cluster.layout import API_ADDRESS
from rehearsal.images import collector_image, standin_image
from rehearsal.toolchain import Toolchain
from tests import golden
from tests.components.aws.stack import settings as on_eks
from tests.engine.command import splitbed
from tests.engine.standing import standing
from tests.engine.waiting import eventually
from tests.recording import ROOT, run

pytestmark = [pytest.mark.engine, pytest.mark.long]

STACK = "rehearsal-split"
NAMESPACE = SET = "exp-some-split"
SPACES = ("testbed-namespace", "testbed-logs-namespace")
REGION = "us-east-1"
PORT = 14318
KEYS = {"AWS_ACCESS_KEY_ID": "AKIDREHEARSED", "AWS_SECRET_ACCESS_KEY": "no secret of anybody's"}
FAULTS = {"seed": 6, "throttled": 0.15, "unavailable": 0.15, "unanswered": 0.1, "warned": 0.1}
LINES = 300
"""Of each life of each pod, before it crashes."""

KINDS = (
    "core/v1:Namespace",
    "core/v1:ServiceAccount",
    "core/v1:ConfigMap",
    "core/v1:PersistentVolume",
    "core/v1:PersistentVolumeClaim",
    "apps/v1:DaemonSet",
)
CRASHING = (
    f'i=0; while [ $i -lt {LINES} ]; do echo "life $LIFE line $i"; i=$((i+1)); '
    'if [ $((i % 100)) -eq 0 ]; then sleep 0.3; fi; done; echo "life $LIFE fails" >&2; exit 1'
)


class Quiet:
    """Progress that nobody reads."""

    def step(self, text: str) -> None:
        pass

    def note(self, text: str) -> None:
        pass


@dataclass
class Rehearsed:
    """A cluster on which a stack was measured that ships its logs to files, and is still up."""

    home: Path
    cluster: clusters.Cluster
    api: client.ApiClient
    collector: str
    standin: str


@pytest.fixture(scope="module")
def rehearsed(own_home: Path) -> Iterator[Rehearsed]:
    with standing(own_home) as cluster:
        status, _, said = splitbed(own_home, "rehearse", "--stack", STACK, "--keep", "--set=logs.kind=files")
        assert status == 0, said
        image = collector_image(Toolchain(own_home, Quiet()).ensure("otelcol")["otelcol"], own_home, Quiet())
        with config.new_client_from_config(str(cluster.kubeconfig)) as api:
            yield Rehearsed(own_home, cluster, api, image.reference, standin_image(own_home, Quiet()).reference)


def test_all_that_a_rehearsed_stack_wrote_is_in_its_files_once(rehearsed: Rehearsed) -> None:
    core: Any = client.CoreV1Api(rehearsed.api)
    namespace = f"exp-{STACK}"
    pods = {
        pod.metadata.name: pod.metadata.uid
        for pod in core.list_namespaced_pod(namespace).items
        if not pod.metadata.name.startswith(shipping.NAME)
    }
    assert len(pods) == 3, "leader, worker and benchmark"
    written = {
        pod: core.read_namespaced_pod_log(pod, namespace, container=container_of(pod)).splitlines() for pod in pods
    }
    time.sleep(5)
    stack_file = rehearsed.home / "rehearsals" / "local" / STACK / f"Pulumi.{STACK}.yaml"

    status, output, said = splitbed(rehearsed.home, "logs", str(stack_file), "--json")

    assert status == 0, said
    shipped = [json.loads(line) for line in output.splitlines()]
    for pod, uid in pods.items():
        lines = [
            each["text"]
            for each in shipped
            if (each["pod"], each["uid"], each["container"]) == (pod, uid, container_of(pod))
        ]
        assert len(written[pod]) > 1, pod
        assert lines[: len(written[pod])] == written[pod], pod  # some may have been written since
    print({pod: len(lines) for pod, lines in written.items()})
    assert {each["run"] for each in shipped if each["container"] == "benchmark"} == {run_of(stack_file)}
    assert {each["group"] for each in shipped if each["container"] == "engine"} == {"0"}
    assert {each["pod"] for each in shipped} == set(pods), "nobody else's, and not the shipper's own"


def container_of(pod: str) -> str:
    return "benchmark" if pod.startswith("bench-") else "engine"


def run_of(stack_file: Path) -> str:
    document = yaml.safe_load(stack_file.read_text())
    return str(document["config"]["splitbed:experiment"]["benchmark"]["run"])


@dataclass
class Lives:
    """Every pod that the API server told of, by its uid, in the order in which they came."""

    pods: dict[str, str] = field(default_factory=dict)

    def watch(self, api: client.ApiClient, until: threading.Event) -> None:
        core: Any = client.CoreV1Api(api)
        while not until.is_set():
            for event in watch.Watch().stream(core.list_namespaced_pod, NAMESPACE, timeout_seconds=5):
                pod = event["object"].metadata
                if pod.name.startswith(f"{SET}-"):
                    self.pods.setdefault(pod.uid, pod.name)

    @property
    def first(self) -> dict[str, str]:
        """The uid of the first pod of each name, by that name."""
        found: dict[str, str] = {}
        for uid, name in self.pods.items():
            found.setdefault(name, uid)
        return found


class Taken:
    """What the double wrote down."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def _entries(self, kind: str) -> list[Any]:
        if not self._file.exists():
            return []
        entries = [json.loads(line) for line in self._file.read_text().splitlines() if line.endswith("}")]
        return [entry[kind] for entry in entries if kind in entry]

    @property
    def lines(self) -> list[dict[str, Any]]:
        return self._entries("taken")

    @property
    def refused(self) -> Counter[tuple[int, str]]:
        return Counter((entry["status"], entry["why"]) for entry in self._entries("refused"))

    def by_life(self) -> dict[str, list[tuple[object, ...]]]:
        """The identities of the lines that came, with all repetitions, by the uid of their pod."""
        found: dict[str, list[tuple[object, ...]]] = {}
        for line in self.lines:
            resource, attributes = line["resource"], line["attributes"]
            identity = (
                resource["k8s.container.name"],
                resource["k8s.container.restart_count"],
                line["time_ns"],
                attributes["log.file.record_offset"],
                line["body"],
            )
            found.setdefault(resource["k8s.pod.uid"], []).append(identity)
        return found


@pytest.fixture
def taken(rehearsed: Rehearsed, tmp_path: Path) -> Iterator[Taken]:
    """The double, in the cluster's own network, as that has no way out."""
    file = tmp_path / "cloudwatch.jsonl"
    pid = rehearsed.cluster.pids()["kube-apiserver"]
    group = shipping.group_name("some-split")
    argv = [
        "nsenter", f"--net=/proc/{pid}/ns/net", "--", sys.executable, "-m", "rehearsal.cloudwatch",
        API_ADDRESS, str(PORT), group, shipping.STREAM, REGION, str(file), json.dumps(FAULTS),
    ]  # fmt: skip
    with subprocess.Popen(argv, cwd=ROOT, env={**os.environ, **KEYS}) as double:
        try:
            yield Taken(file)
        finally:
            double.kill()


def objects(image: str) -> Iterator[dict[str, Any]]:
    """Yield what the program makes of the log shipper on EKS, sent to the double with credentials that it knows."""
    recording = run(on_eks(logs={"kind": "cloudwatch", "image": image}), preview=True)
    for kind in KINDS:
        for resource in recording.of_type(f"kubernetes:{kind}"):
            if "log-shipper" not in resource.name and resource.name not in SPACES:
                continue
            found: dict[str, Any] = yaml.safe_load(golden.as_yaml(dict(resource.inputs)))
            if found["kind"] == "ConfigMap":
                (name,) = found["data"]
                assert f"https://logs.{REGION}.amazonaws.com/" in found["data"][name]
                found["data"][name] = found["data"][name].replace(
                    f"https://logs.{REGION}.amazonaws.com/", f"http://{API_ADDRESS}:{PORT}/"
                )
            if found["kind"] == "DaemonSet":
                (container,) = found["spec"]["template"]["spec"]["containers"]
                container["env"] += [{"name": name, "value": value} for name, value in KEYS.items()]
            yield found


@pytest.fixture
def shipper(rehearsed: Rehearsed, taken: Taken) -> Iterator[None]:
    made = list(objects(rehearsed.collector))
    for each in made:
        utils.create_from_dict(rehearsed.api, each)
    apps: Any = client.AppsV1Api(rehearsed.api)

    def ready() -> bool:
        status = apps.read_namespaced_daemon_set(shipping.NAME, f"{NAMESPACE}-logs").status
        return bool(status.desired_number_scheduled == status.number_ready == 3)

    eventually(ready, "a collector on each of the three nodes")
    yield
    core: Any = client.CoreV1Api(rehearsed.api)
    namespaces = [each["metadata"]["name"] for each in made if each["kind"] == "Namespace"]
    for namespace in namespaces:
        core.delete_namespace(namespace)
    for each in made:
        if each["kind"] == "PersistentVolume":
            core.delete_persistent_volume(each["metadata"]["name"])

    def gone(namespace: str) -> bool:
        try:
            core.read_namespace(namespace)
        except ApiException as error:
            return bool(error.status == 404)
        return False

    for namespace in namespaces:
        eventually(partial(gone, namespace), f"{namespace} is gone")


def crashing_group(image: str) -> Mapping[str, Any]:
    spec = {
        "nodeSelector": {"splitbed.dev/group": "engine"},
        "terminationGracePeriodSeconds": 1,
        "affinity": {
            "podAntiAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": [
                    {
                        "topologyKey": "kubernetes.io/hostname",
                        "labelSelector": {"matchLabels": {"leaderworkerset.sigs.k8s.io/name": SET}},
                    }
                ]
            }
        },
        "containers": [
            {
                "name": "engine",
                "image": image,
                "imagePullPolicy": "IfNotPresent",
                "command": ["sh", "-c", CRASHING],
                "env": [{"name": "LIFE", "valueFrom": {"fieldRef": {"fieldPath": "metadata.uid"}}}],
            }
        ],
    }
    return {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "metadata": {"name": SET, "namespace": NAMESPACE},
        "spec": {
            "replicas": 1,
            "leaderWorkerTemplate": {
                "size": 2,
                "restartPolicy": "RecreateGroupOnPodRestart",
                "workerTemplate": {"spec": spec},
            },
        },
    }


def kill_collectors(cluster: clusters.Cluster) -> int:
    """Kill every collector at once, as a lack of memory would; return how many there were."""
    killed = 0
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                ours = cluster.cgroup in (entry / "cgroup").read_text()
                if ours and (entry / "cmdline").read_bytes().startswith(b"/otelcol\0"):
                    os.kill(int(entry.name), signal.SIGKILL)
                    killed += 1
            except OSError:
                continue  # it has ended
    return killed


@pytest.mark.usefixtures("shipper")
def test_every_line_of_the_first_life_arrives_and_none_counts_twice(rehearsed: Rehearsed, taken: Taken) -> None:
    custom: Any = client.CustomObjectsApi(rehearsed.api)
    lives, over = Lives(), threading.Event()
    watching = threading.Thread(target=lives.watch, args=(rehearsed.api, over))
    watching.start()
    where = ("leaderworkerset.x-k8s.io", "v1", NAMESPACE, "leaderworkersets")
    custom.create_namespaced_custom_object(*where, crashing_group(rehearsed.standin))
    try:
        eventually(lambda: taken.lines, "the first lines")
        killed = kill_collectors(rehearsed.cluster)
        for pause in (7, 13):
            time.sleep(pause)
            killed += kill_collectors(rehearsed.cluster)
        eventually(lambda: len(lives.pods) >= 20, "ten lives of the group")
    finally:
        custom.delete_namespaced_custom_object(*where, SET)
        over.set()
        watching.join()

    settled(taken)
    found = taken.by_life()
    first = lives.first
    assert set(first) == {f"{SET}-0", f"{SET}-0-1"}
    for pod, uid in first.items():
        wanted = [*(f"life {uid} line {number}" for number in range(LINES)), f"life {uid} fails"]
        distinct = {identity for identity in found[uid] if identity[1] == "0"}
        assert Counter(str(identity[4]) for identity in distinct) == Counter(wanted), pod
    raw = sum(map(len, found.values()))
    different = sum(len(set(identities)) for identities in found.values())
    complete = sum(
        {f"life {uid} line {number}" for number in range(LINES)} <= {str(identity[4]) for identity in identities}
        for uid, identities in found.items()
    )
    print(
        f"{killed} collectors killed, {len(lives.pods)} lives, {complete} of them complete, {raw} lines of which "
        f"{raw - different} came again; {dict(taken.refused)}"
    )
    assert killed >= 3 * 3
    assert {status for status, _ in taken.refused} <= {0, 429, 503}, "no signature, group or stream was wrong"
    assert {0, 429, 503} <= {status for status, _ in taken.refused}, "each of the faults befell somebody"


def settled(taken: Taken, quiet_s: float = 15) -> None:
    """Wait until nothing has come for a while."""
    count, since = -1, time.monotonic()
    while time.monotonic() - since < quiet_s:
        if len(taken.lines) != count:
            count, since = len(taken.lines), time.monotonic()
        time.sleep(1)
