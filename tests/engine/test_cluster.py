"""A real cluster: three nodes that are one network, programs that come back, and nothing left when it is gone."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from kubernetes import client, config
from rich.console import Console

from experiment.errors import SplitbedError
from rehearsal import cluster as clusters
from rehearsal.cluster.lifecycle import _TOOLS
from rehearsal.home import home
from rehearsal.images import Image, pause_image, standin_image
from rehearsal.leftovers import Listing, diff
from rehearsal.progress import ConsoleProgress
from rehearsal.toolchain import Toolchain
from tests.engine.waiting import PATIENCE_S, eventually

pytestmark = [pytest.mark.engine, pytest.mark.skipif(os.geteuid() != 0, reason="a cluster takes root")]

PROGRESS = ConsoleProgress(Console(stderr=True))
END_S = 60.0  # within which what was killed is gone
# Answers with the name of its pod's node, or fetches what the path says in hexadecimal and answers with that.
SERVER = """
import http.server, os, urllib.request

class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        url = bytes.fromhex(self.path[1:]).decode()
        answer = urllib.request.urlopen(url, timeout=5).read() if url else os.environ["NODE"].encode()
        self.send_response(200)
        self.end_headers()
        self.wfile.write(answer)

http.server.ThreadingHTTPServer(("", 8080), Handler).serve_forever()
"""

Tools = dict[str, Path]
Core = Any  # its models say of every field that it may be missing


@pytest.fixture(scope="module")
def tools() -> Tools:
    return Toolchain(home(), PROGRESS).ensure(*_TOOLS, "pause", "kwok")


@pytest.fixture(scope="module")
def images(tools: Tools) -> list[Image]:
    return [pause_image(tools["pause"], home(), PROGRESS), standin_image(home(), PROGRESS)]


@pytest.fixture(scope="module")
def own_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A home for the tests' clusters, beside which those of a person on this machine are left alone."""
    path = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPLITBED_HOME", str(path))
        yield path


@pytest.fixture(scope="module")
def cluster(tools: Tools, images: list[Image], own_home: Path) -> Iterator[clusters.Cluster]:
    """One cluster for the tests that leave it as it was."""
    try:
        yield clusters.up(clusters.ClusterSpec("shared"), tools, images, PROGRESS)
    finally:
        clusters.down("shared", PROGRESS)


@pytest.fixture(scope="module")
def core(cluster: clusters.Cluster) -> Core:
    return client.CoreV1Api(config.new_client_from_config(str(cluster.kubeconfig)))


@pytest.fixture(scope="module")
def pods(core: Core, images: list[Image]) -> Iterator[dict[str, str]]:
    """A server on each engine node, each behind a Service of the node's name; the pods' addresses by name."""
    names = ("engine-0", "engine-1")
    for name in names:
        server = {
            "name": "server",
            "image": images[1].reference,
            "command": ["python3", "-c", SERVER],
            "env": [{"name": "NODE", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}],
        }
        spec = {
            "containers": [server],
            "nodeSelector": {"kubernetes.io/hostname": name},
            "terminationGracePeriodSeconds": 0,
        }
        metadata = {"name": f"pod-{name}", "labels": {"app": name}}
        core.create_namespaced_pod("default", {"metadata": metadata, "spec": spec})
        service = {"selector": {"app": name}, "ports": [{"port": 80, "targetPort": 8080}]}
        core.create_namespaced_service("default", {"metadata": {"name": f"service-{name}"}, "spec": service})

    def address(name: str) -> str:
        status = core.read_namespaced_pod(name, "default").status
        return str(status.pod_ip) if status.phase == "Running" else ""

    found = {f"pod-{name}": eventually(lambda name=name: address(f"pod-{name}"), name) for name in names}  # type: ignore[misc]
    for name in found:
        eventually(lambda name=name: fetch(core, name), f"the server in {name}")  # type: ignore[misc]
    yield found
    for name in names:
        core.delete_namespaced_service(f"service-{name}", "default")
        core.delete_namespaced_pod(f"pod-{name}", "default", grace_period_seconds=0)


def fetch(core: Core, pod: str, url: str = "") -> str:
    """Fetch a page from within a pod, which the API server reaches by its address."""
    path = url.encode().hex()
    return str(core.connect_get_namespaced_pod_proxy_with_path(f"{pod}:8080", "default", path=path))


def ready_nodes(core: Core) -> dict[str, Any]:
    return {
        node.metadata.name: node
        for node in core.list_node().items
        if any(condition.type == "Ready" and condition.status == "True" for condition in node.status.conditions)
    }


def eventually_ready(core: Core, names: set[str]) -> dict[str, Any]:
    """Wait until these nodes are ready, and no others: on a busy machine one is late with its heartbeat at times."""
    return eventually(lambda: ready if set(ready := ready_nodes(core)) == names else {}, f"{names} are ready")


def test_three_nodes_are_ready_with_their_labels(core: Core) -> None:
    ready = eventually_ready(core, {"system-0", "engine-0", "engine-1"})
    groups = {name: node.metadata.labels["splitbed.dev/group"] for name, node in ready.items()}
    assert groups == {"system-0": "system", "engine-0": "engine", "engine-1": "engine"}


def test_pods_of_different_nodes_reach_each_other(core: Core, pods: dict[str, str]) -> None:
    def reaches(here: str, there: str) -> bool:
        return fetch(core, f"pod-{here}", f"http://{pods[f'pod-{there}']}:8080") == there

    for here, there in (("engine-0", "engine-1"), ("engine-1", "engine-0")):
        eventually(partial(reaches, here, there), f"{there} from {here}")


@pytest.mark.parametrize("target", ["engine-0", "engine-1"])
def test_services_work_by_name_and_by_address_from_every_pod(core: Core, pods: dict[str, str], target: str) -> None:
    address = core.read_namespaced_service(f"service-{target}", "default").spec.cluster_ip
    for pod in pods:  # also from the pod that is behind the Service itself
        for host in (f"service-{target}", f"service-{target}.default.svc.cluster.local", address):
            ask = lambda pod=pod, host=host: fetch(core, pod, f"http://{host}") == target  # noqa: E731
            assert eventually(ask, f"{host} from {pod}")


def test_logs_are_there_for_the_host_too(cluster: clusters.Cluster, core: Core, pods: dict[str, str]) -> None:
    eventually(
        lambda: "GET / HTTP" in core.read_namespaced_pod_log("pod-engine-0", "default"), "the log through the API"
    )
    (file,) = (cluster.logs / "pods" / "engine-0").glob("default_pod-engine-0_*/server/0.log")
    assert "GET / HTTP" in file.read_text()
    assert not list((cluster.logs / "pods" / "engine-1").glob("default_pod-engine-0_*"))


def test_a_cluster_is_found_and_not_brought_up_twice(
    cluster: clusters.Cluster, tools: Tools, images: list[Image]
) -> None:
    assert clusters.find("shared") == cluster
    with pytest.raises(SplitbedError, match="up already"):
        clusters.up(clusters.ClusterSpec("shared"), tools, images, PROGRESS)
    assert cluster.alive()


@pytest.mark.parametrize(
    "program",
    [
        "etcd",
        "kube-apiserver",
        "kube-controller-manager",
        "kube-scheduler",
        "kube-proxy",
        "coredns",
        "forwarder",
        "kubelet/engine-0",
        "containerd/engine-0",
    ],
)
def test_a_program_that_is_killed_comes_back_and_pods_stay(
    cluster: clusters.Cluster, core: Core, pods: dict[str, str], program: str
) -> None:
    before = cluster.pids()[program]
    os.kill(before, signal.SIGKILL)
    eventually(lambda: cluster.pids().get(program, before) != before, f"another {program}")
    cluster.wait_ready(PROGRESS, PATIENCE_S)
    target = "http://service-engine-1"
    eventually(lambda: fetch(core, "pod-engine-0", target) == "engine-1", f"Services after {program} was killed")

    def restarts() -> list[int]:
        statuses = [core.read_namespaced_pod(name, "default").status.container_statuses for name in pods]
        return [status[0].restart_count for status in statuses if status]

    # The kubelet tells them anew when it is back, which is a moment after its node is ready.
    assert eventually(lambda: found if len(found := restarts()) == len(pods) else [], "both are told") == [0, 0]


def test_the_machines_kernel_settings_are_not_the_kubelets(cluster: clusters.Cluster) -> None:
    inside = Path("/proc", str(cluster.pids()["kubelet/engine-0"]), "root/proc/sys/vm/overcommit_memory")
    assert inside.exists()
    assert not [entry for entry in Path("/proc/self/mounts").read_text().splitlines() if "shared" in entry]


def test_clusters_run_side_by_side_and_apart(
    cluster: clusters.Cluster, core: Core, tools: Tools, images: list[Image]
) -> None:
    before = Listing.take()
    spec = clusters.ClusterSpec("second", (clusters.NodeSpec("only"),))
    second = clusters.up(spec, tools, images[:1], PROGRESS)
    try:
        api = client.CoreV1Api(config.new_client_from_config(str(second.kubeconfig)))
        eventually_ready(api, {"only"})
        eventually_ready(core, {"system-0", "engine-0", "engine-1"})
    finally:
        clusters.down("second", PROGRESS)
    assert clusters.find("second") is None
    assert cluster.alive()
    eventually_ready(core, {"system-0", "engine-0", "engine-1"})
    assert diff(before, Listing.take()) == []


def test_nodes_that_pretend_have_the_size_they_are_given(cluster: clusters.Cluster, core: Core, tools: Tools) -> None:
    """Two nodes of an instance type, and pods of 7 CPUs: the third is left waiting by the real scheduler."""
    fakes = [
        clusters.KwokNode(f"m7g-{number}", "7910m", "29382Mi", 58, {"pretends": "yes"}, "m7g.2xlarge")
        for number in (0, 1)
    ]
    try:
        cluster.add_kwok_nodes(fakes, tools["kwok"], PROGRESS)
        eventually(lambda: "m7g-1" in ready_nodes(core), "m7g-1 is ready")
        node: Any = eventually(lambda: ready_nodes(core).get("m7g-0"), "m7g-0 is ready")
        assert node.status.allocatable == {"cpu": "7910m", "memory": "29382Mi", "pods": "58"}
        assert node.metadata.labels["node.kubernetes.io/instance-type"] == "m7g.2xlarge"
        for number in range(3):
            container = {"name": "engine", "image": "pretended", "resources": {"requests": {"cpu": "7"}}}
            spec = {"containers": [container], "nodeSelector": {"pretends": "yes"}}
            core.create_namespaced_pod("default", {"metadata": {"name": f"big-{number}"}, "spec": spec})

        def phases() -> list[str]:
            return sorted(core.read_namespaced_pod(f"big-{number}", "default").status.phase for number in range(3))

        eventually(lambda: phases() == ["Pending", "Running", "Running"], "two of three pods run")

        def scheduler_says() -> list[str]:
            # By the condition: an event keeps the words of the first attempt, when a node may not have been ready.
            pods = [core.read_namespaced_pod(f"big-{number}", "default") for number in range(3)]
            return [one.message or "" for pod in pods for one in pod.status.conditions if one.type == "PodScheduled"]

        eventually(lambda: any("2 Insufficient cpu" in text for text in scheduler_says()), "the third is said to wait")
        before = cluster.pids()["kwok"]
        os.kill(before, signal.SIGKILL)
        eventually(lambda: cluster.pids().get("kwok", before) != before, "another kwok")
    finally:
        for number in range(3):
            core.delete_namespaced_pod(f"big-{number}", "default", grace_period_seconds=0)
        for fake in fakes:
            core.delete_node(fake.name)


SMALL = clusters.ClusterSpec("small", (clusters.NodeSpec("only"),))
UP = """
import json, sys
from pathlib import Path
from types import SimpleNamespace
from rich.console import Console
from rehearsal import cluster as clusters
from rehearsal.progress import ConsoleProgress
given = json.loads(sys.stdin.read())
images = [SimpleNamespace(reference=reference, archive=Path(archive)) for reference, archive in given["images"]]
spec = clusters.ClusterSpec("small", (clusters.NodeSpec("only"),))
clusters.up(spec, {name: Path(path) for name, path in given["tools"].items()}, images, ConsoleProgress(Console()))
"""


@pytest.fixture
def untouched(own_home: Path) -> Iterator[None]:
    """The machine after the test and a `down` is as it was before the test."""
    before = Listing.take()
    yield
    clusters.down("small", PROGRESS)
    assert diff(before, Listing.take()) == []
    clusters.down("small", PROGRESS)
    assert diff(before, Listing.take()) == []


@pytest.mark.parametrize("delay_s", [0.3, 0.8, 1.5, 3.0, 6.0])
def test_up_killed_on_its_way_takes_its_cluster_with_it(
    tools: Tools, images: list[Image], own_home: Path, untouched: None, delay_s: float
) -> None:
    given = {
        "images": [[image.reference, str(image.archive)] for image in images[:1]],
        "tools": {name: str(path) for name, path in tools.items()},
    }
    with subprocess.Popen([sys.executable, "-c", UP], stdin=subprocess.PIPE, text=True, stdout=sys.stderr) as command:
        assert command.stdin
        command.stdin.write(json.dumps(given))
        command.stdin.close()
        time.sleep(delay_s)
        command.kill()
    if (own_home / "clusters" / "small" / "ready.json").exists():
        return  # it was faster than we were: `down` has a whole cluster to end
    deadline = time.monotonic() + END_S
    while clusters.pids_of("small"):
        assert time.monotonic() < deadline, clusters.pids_of("small")
        time.sleep(0.05)


@pytest.mark.parametrize("victim", ["supervisor", "unshare", "kubelet/only", "kube-apiserver", "containerd/only"])
def test_nothing_is_left_whatever_was_killed(tools: Tools, images: list[Image], untouched: None, victim: str) -> None:
    cluster = clusters.up(SMALL, tools, images[:1], PROGRESS)
    pids = cluster.pids()
    if victim == "unshare":
        status = Path("/proc", str(pids["supervisor"]), "status").read_text()
        pid = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("PPid:"))
        assert b"unshare" in Path("/proc", str(pid), "cmdline").read_bytes()
    else:
        pid = pids[victim]
    os.kill(pid, signal.SIGKILL)
    if victim in ("supervisor", "unshare"):
        deadline = time.monotonic() + END_S
        while any(Path("/proc", str(pid)).exists() for pid in pids.values()):
            assert time.monotonic() < deadline
            time.sleep(0.02)
        assert not cluster.alive()
        assert clusters.find("small") is None


def test_down_killed_on_its_way_is_finished_by_the_next(
    tools: Tools, images: list[Image], own_home: Path, untouched: None
) -> None:
    clusters.up(SMALL, tools, images[:1], PROGRESS)
    script = (
        "from rich.console import Console; from rehearsal.progress import ConsoleProgress;"
        "from rehearsal import cluster; cluster.down('small', ConsoleProgress(Console()))"
    )
    removing = own_home / "clusters" / "small" / "pki"
    with subprocess.Popen([sys.executable, "-c", script], stdout=sys.stderr) as command:
        while removing.exists() and command.poll() is None:
            time.sleep(0.001)
        command.kill()


def test_what_keeps_a_cluster_from_coming_up_is_said(tools: Tools, images: list[Image], untouched: None) -> None:
    absent = SimpleNamespace(reference="splitbed.invalid/absent:1", archive=Path("/nonexistent.tar"))
    with pytest.raises(SplitbedError, match=r"import/unpacking/absent-1 keeps ending.*nonexistent"):
        clusters.up(SMALL, tools, [images[0], absent], PROGRESS)
