"""The real kube-scheduler against `experiment.schedule`: the same pods wait, in the same words, on kwok's nodes.

Pods are created one after the other, each when the scheduler has decided on the one before. Where it takes one of
several nodes at random, the model is told which, and must have it among its best.
"""

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import count
from random import Random
from typing import Any

import pytest
from rich.console import Console

from experiment.schedule import (
    AntiAffinity,
    Assignment,
    Choice,
    Node,
    Pod,
    Request,
    Toleration,
    effective,
    foretell,
    schedule,
)
from experiment.schedule.filters import (
    APART,
    NO_CPU,
    NO_GPU,
    NO_MEMORY,
    NOT_ITS_NODE,
    NOT_SELECTED,
    OTHERS_APART,
    TAINTED,
    TOO_MANY_PODS,
    UNSCHEDULABLE,
)
from rehearsal.cluster.kwok import ANNOTATION
from rehearsal.home import home
from rehearsal.progress import ConsoleProgress
from rehearsal.toolchain import Toolchain
from tests.engine.control_plane import PROGRAMS, ApiServer, control_plane
from tests.experiment.schedule.random_cases import case
from tests.experiment.schedule.stacks import of
from tests.experiment.schedule.test_foretell import after_a_node_was_replaced, one_of_the_1b_post
from tests.recording import STACKS

pytestmark = pytest.mark.engine

DECISION_S = 60.0
NAMES = count()
"""No name comes twice: what is deleted lingers in the programs' memories."""


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApiServer]:
    tools = Toolchain(home(), ConsoleProgress(Console(stderr=True))).ensure(*PROGRAMS)
    with control_plane(tools, tmp_path_factory.mktemp("control-plane")) as api:
        yield api


@dataclass(frozen=True)
class Decided:
    """What the scheduler made of pods: the node's name, or the words by which it left them waiting."""

    node_of: Mapping[str, str]
    waiting: Mapping[str, str]


def decide(api: ApiServer, nodes: Sequence[Node], pods: Sequence[Pod]) -> Decided:
    """Let the real scheduler decide on pods, one after the other, and take everything away again."""
    for namespace in {pod.namespace for pod in pods} - {"default"}:
        if namespace not in {one["metadata"]["name"] for one in api.call("GET", "/api/v1/namespaces")["items"]}:
            api.call("POST", "/api/v1/namespaces", {"metadata": {"name": namespace}})
    for node in nodes:
        api.call("POST", "/api/v1/nodes", node_object(node))
    node_of: dict[str, str] = {}
    waiting: dict[str, str] = {}
    try:
        with api.watch("/api/v1/pods") as events:
            _wait_until_it_sees(api, events, len(nodes))
            for pod in pods:
                place, message = _decision(api, events, pod_object(pod), pod.namespace)
                if place:
                    node_of[pod.name] = place
                else:
                    waiting[pod.name] = message
        # Nobody has taken any away meanwhile.
        there = {one["metadata"]["name"]: one["spec"].get("nodeName") for one in _items(api, "pods")}
        assert {name: there.get(name) for name in (*node_of, *waiting)} == {**node_of, **dict.fromkeys(waiting)}
        return Decided(node_of, waiting)
    finally:
        _clean(api, {pod.namespace for pod in pods})


def _decision(api: ApiServer, events: Iterator[Any], pod: dict[str, Any], namespace: str) -> tuple[str, str]:
    api.call("POST", f"/api/v1/namespaces/{namespace}/pods", pod)
    for found in events:
        if found["metadata"]["name"] != pod["metadata"]["name"]:
            continue
        if node := found["spec"].get("nodeName"):
            return str(node), ""
        for condition in found["status"].get("conditions", []):
            if condition["type"] == "PodScheduled" and condition["status"] == "False":
                return "", str(condition["message"])
    return pytest.fail("the API server ended the watch")


def _wait_until_it_sees(api: ApiServer, events: Iterator[Any], nodes: int) -> None:
    """Wait until all nodes, and no earlier ones, are the scheduler's, by pods that no node takes."""
    everywhere = f"0/{nodes} nodes are available: {nodes} {NOT_SELECTED}. "
    deadline = time.monotonic() + DECISION_S
    while True:
        selector = {"splitbed.dev/nowhere": ""}
        probe = Pod(name=f"probe-{next(NAMES)}", selector=selector, tolerations=(Toleration(),))
        _, said = _decision(api, events, pod_object(probe), "default")
        if said.startswith(everywhere):
            return
        if time.monotonic() > deadline:
            pytest.fail(f"the scheduler does not see {nodes} nodes but says: {said}")
        time.sleep(0.02)


def _clean(api: ApiServer, namespaces: set[str]) -> None:
    now = {"apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": 0}
    for namespace in namespaces | {"default"}:
        api.call("DELETE", f"/api/v1/namespaces/{namespace}/pods", now)
    _wait_until_gone(api, "pods")
    api.call("DELETE", "/api/v1/nodes", now)
    _wait_until_gone(api, "nodes")


def _wait_until_gone(api: ApiServer, what: str) -> None:
    deadline = time.monotonic() + DECISION_S
    while _items(api, what):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def _items(api: ApiServer, what: str) -> list[Any]:
    found: list[Any] = api.call("GET", f"/api/v1/{what}")["items"]
    return found


def node_object(node: Node) -> dict[str, Any]:
    amounts = {
        "cpu": f"{node.cpu_millicores}m",
        "memory": f"{node.memory_mib}Mi",
        "pods": str(node.pods),
        **({"nvidia.com/gpu": str(node.gpus)} if node.gpus else {}),
    }
    return {
        "metadata": {
            "name": node.name,
            "labels": {"kubernetes.io/hostname": node.name, **node.labels},
            "annotations": {ANNOTATION: "fake"},
        },
        "spec": {"taints": [asdict(taint) for taint in node.taints], "unschedulable": node.unschedulable},
        "status": {"allocatable": amounts, "capacity": amounts},
    }


def pod_object(pod: Pod, containers: Sequence[Request] = (), init_containers: Sequence[Request] = ()) -> dict[str, Any]:
    """Return the pod's manifest, with one container unless others are given."""
    one = Request(cpu_millicores=pod.cpu_millicores, memory_mib=pod.memory_mib, gpus=pod.gpus)
    affinity: dict[str, Any] = {
        "podAntiAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [_term(term) for term in pod.apart_from],
            "preferredDuringSchedulingIgnoredDuringExecution": [
                {"weight": one.weight, "podAffinityTerm": _term(one.term)} for one in pod.away_from
            ],
        }
    }
    if pod.node:
        field = {"key": "metadata.name", "operator": "In", "values": [pod.node]}
        affinity["nodeAffinity"] = {
            "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchFields": [field]}]}
        }
    return {
        "metadata": {"name": pod.name, "labels": dict(pod.labels)},
        "spec": {
            "containers": [_container(f"c{n}", each) for n, each in enumerate(containers or [one])],
            "initContainers": [_container(f"i{n}", each) for n, each in enumerate(init_containers)],
            "nodeSelector": dict(pod.selector),
            "tolerations": [
                {
                    **({"key": one.key} if one.key else {}),
                    **({"effect": one.effect} if one.effect else {}),
                    **({"operator": "Exists"} if one.value is None else {"operator": "Equal", "value": one.value}),
                }
                for one in pod.tolerations
            ],
            "affinity": affinity,
            "automountServiceAccountToken": False,
        },
    }


def _container(name: str, request: Request) -> dict[str, Any]:
    amounts = {
        **({"cpu": f"{request.cpu_millicores}m"} if request.cpu_millicores else {}),
        **({"memory": f"{request.memory_mib}Mi"} if request.memory_mib else {}),
    }
    gpus = {"nvidia.com/gpu": str(request.gpus)} if request.gpus else {}
    return {
        "name": name,
        "image": "pretended",
        "resources": {"requests": {**amounts, **gpus}, "limits": gpus},
        **({"restartPolicy": "Always"} if request.sidecar else {}),
    }


def _term(term: AntiAffinity) -> dict[str, Any]:
    expressions = [
        {"key": one.key, "operator": one.operator, **({"values": list(one.values)} if one.values else {})}
        for one in term.selector.expressions
    ]
    return {
        "topologyKey": term.topology,
        "labelSelector": {"matchLabels": dict(term.selector.labels), "matchExpressions": expressions},
        **({"namespaceSelector": {}} if term.everywhere else {}),
    }


def compare(api: ApiServer, nodes: Sequence[Node], pods: Sequence[Pod]) -> Assignment:
    """Compare the real scheduler's decisions with the model's, and both with what was foretold."""
    prefix = f"r{next(NAMES)}-"
    nodes = [replace(node, name=prefix + node.name) for node in nodes]
    pods = [replace(pod, name=prefix + pod.name, node=pod.node and prefix + pod.node) for pod in pods]
    pods.sort(key=lambda pod: -pod.priority)
    real = decide(api, nodes, pods)

    def as_it_was(choice: Choice) -> str:
        name = choice.pod.name
        assert name in real.node_of, f"{name} should fit on {choice.feasible}, but waits: {real.waiting[name]}"
        assert real.node_of[name] in choice.best, (name, real.node_of[name], choice.best)
        return real.node_of[name]

    model = schedule(nodes, pods, as_it_was)
    assert {one.pod: one.message for one in model.pending} == real.waiting
    assert model.node_of == real.node_of
    for fate in foretell(nodes, pods).fates:
        waits = sum(name in real.waiting for name in fate.pods)
        assert fate.least <= waits <= fate.most
    return model


def test_a_hundred_random_stacks(api: ApiServer) -> None:
    reasons: Counter[str] = Counter()
    for seed in range(100):
        drawn = case(Random(seed), nodes=6, pods=14, sorts=6)  # noqa: S311  drawn again the same
        model = compare(api, drawn.nodes, drawn.pods)
        reasons.update(reason.text for one in model.pending for reason in one.reasons)
    expected = {NO_CPU, NO_MEMORY, NO_GPU, TOO_MANY_PODS, APART, OTHERS_APART}
    expected |= {NOT_ITS_NODE, NOT_SELECTED, TAINTED, UNSCHEDULABLE}
    assert set(reasons) == expected
    assert min(reasons.values()) >= 5, reasons


@pytest.mark.parametrize("stack", STACKS)
def test_every_stack(api: ApiServer, stack: str) -> None:
    drawn = of(stack)
    orders = [list(drawn.pods), list(reversed(drawn.pods))]
    orders.append(Random(stack).sample(drawn.pods, len(drawn.pods)))  # noqa: S311  the same each time
    for pods in orders:
        assert not compare(api, drawn.nodes, pods).pending


@pytest.mark.parametrize(("millicores", "pending"), [(1000, ["worker"]), (100, [])])
def test_the_story_of_the_controllers_whole_core(api: ApiServer, millicores: int, pending: list[str]) -> None:
    nodes, pods = one_of_the_1b_post(millicores)
    model = compare(api, nodes, after_a_node_was_replaced(pods))
    assert [one.pod.partition("-")[2] for one in model.pending] == pending


@pytest.mark.parametrize(
    ("containers", "init_containers"),
    [
        ((100, 200), ()),
        ((100, 200), (500,)),
        ((100, 200), (250, 280)),
        ((100,), (-300, 350)),
        ((100, 200), (-300, 150, -50)),
        ((100,), (500, -300)),
    ],
)
def test_what_pods_of_several_containers_ask_for(
    api: ApiServer, containers: tuple[int, ...], init_containers: tuple[int, ...]
) -> None:
    """Millicores; a negative number is a sidecar's."""
    given = [Request(cpu_millicores=amount) for amount in containers]
    before = [Request(cpu_millicores=abs(amount), sidecar=amount < 0) for amount in init_containers]
    asked = effective(given, before).cpu_millicores
    size = {"memory_mib": 1024, "pods": 5}
    for cpu_millicores, fits in ((asked, True), (asked - 1, False)):
        node = Node(name=f"r{next(NAMES)}-node", cpu_millicores=cpu_millicores, **size)  # type: ignore[arg-type]
        api.call("POST", "/api/v1/nodes", node_object(node))
        several = pod_object(Pod(name=f"several-{next(NAMES)}"), given, before)
        with api.watch("/api/v1/pods") as events:
            _wait_until_it_sees(api, events, 1)
            found, message = _decision(api, events, several, "default")
        _clean(api, set())
        assert (found == node.name) is fits
        assert fits or message.startswith("0/1 nodes are available: 1 Insufficient cpu. ")


def test_without_nodes_it_says_so(api: ApiServer) -> None:
    (pending,) = schedule([], [Pod(name="p")]).pending
    with api.watch("/api/v1/pods") as events:
        alone = pod_object(Pod(name=f"p-{next(NAMES)}"))
        assert _decision(api, events, alone, "default") == ("", pending.message)
    _clean(api, set())
