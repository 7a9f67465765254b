"""A real API server, with Pod Security and quotas as it has them by itself, admits what the stacks make and no more."""

import copy
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
import yaml
from rich.console import Console

from rehearsal.home import home
from rehearsal.progress import ConsoleProgress
from rehearsal.toolchain import Toolchain
from tests import golden
from tests.engine.control_plane import PROGRAMS, ApiServer, control_plane
from tests.experiment.stacks import text_of
from tests.recording import STACKS, Recording, recorded, run

pytestmark = pytest.mark.engine

LWS = "kubernetes:leaderworkerset.x-k8s.io/v1:LeaderWorkerSet"
WITHIN = {
    "kubernetes:networking.k8s.io/v1:NetworkPolicy": "apis/networking.k8s.io/v1/namespaces/{}/networkpolicies",
    "kubernetes:core/v1:ResourceQuota": "api/v1/namespaces/{}/resourcequotas",
    "kubernetes:core/v1:LimitRange": "api/v1/namespaces/{}/limitranges",
}
MANAGER: dict[str, Any] = {
    "securityContext": {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}},
    "containers": [
        {
            "name": "manager",
            "image": "i",
            "securityContext": {
                "allowPrivilegeEscalation": False,
                "capabilities": {"drop": ["ALL"]},
                "readOnlyRootFilesystem": True,
            },
        }
    ],
}
"""Of the chart's manager: the container as LeaderWorkerSet 0.9.0's chart has it, the pod as our values say."""


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApiServer]:
    tools = Toolchain(home(), ConsoleProgress(Console(stderr=True))).ensure(*PROGRAMS)
    with control_plane(tools, tmp_path_factory.mktemp("control-plane")) as api:
        yield api


def plain(value: Mapping[str, Any]) -> dict[str, Any]:
    """Whole numbers as such; the recording's are floats."""
    found: dict[str, Any] = yaml.safe_load(golden.as_yaml(dict(value)))
    return found


def pods(recording: Recording) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield every pod that the stack has made for it: its namespace, what it is, its specification."""
    for each in recording.of_type(LWS):
        templates = plain(each.inputs)["spec"]["leaderWorkerTemplate"]
        for role in ("leaderTemplate", "workerTemplate"):
            if role in templates:
                yield each.inputs["metadata"]["namespace"], role, templates[role]
    for kind in ("kubernetes:batch/v1:Job", "kubernetes:apps/v1:DaemonSet"):
        for each in recording.of_type(kind):
            made = plain(each.inputs)
            yield made["metadata"]["namespace"], made["metadata"]["name"], made["spec"]["template"]
    if recording.of_type("kubernetes:helm.sh/v4:Chart"):
        yield "lws-system", "manager", {"spec": MANAGER}


def pod(template: Mapping[str, Any], name: str) -> dict[str, Any]:
    labels = template.get("metadata", {}).get("labels", {})
    return {"metadata": {"name": name.lower(), "labels": labels}, "spec": copy.deepcopy(template["spec"])}


def prepared(api: ApiServer, recording: Recording) -> None:
    """Make a stack's namespaces, with all that bounds them."""
    for each in recording.of_type("kubernetes:core/v1:Namespace"):
        made = plain(each.inputs)
        status, text = api.ask("POST", "/api/v1/namespaces", made)
        assert status == 201 or (status == 409 and made["metadata"]["name"] == "lws-system"), text
    for kind, path in WITHIN.items():
        for each in recording.of_type(kind):
            made = plain(each.inputs)
            if made["metadata"]["namespace"] != "lws-system":
                api.call("POST", f"/{path.format(made['metadata']['namespace'])}", made)


def refused(api: ApiServer, namespace: str, body: object) -> str:
    """Return why a pod is not admitted; nothing if it is."""
    status, text = api.ask("POST", f"/api/v1/namespaces/{namespace}/pods?dryRun=All", body)
    return "" if status == 201 else text


@pytest.mark.parametrize("stack", [*STACKS, "everything"])
def test_what_a_stack_makes_is_admitted(api: ApiServer, stack: str) -> None:
    recording = recorded(stack) if stack in STACKS else everything()
    prepared(api, recording)
    found = {name: refused(api, namespace, pod(template, name)) for namespace, name, template in pods(recording)}
    assert len(found) >= 3
    assert {name: why for name, why in found.items() if why} == {}


def everything() -> Recording:
    """A GPU stack with all that may be asked for besides."""
    changes = {"nodes__engine__efa": True, "observe": {"dcgm": True}, "name": "everything"}
    return run(yaml.safe_load(text_of("llama-70b-tp2pp2", **changes)))


def test_what_a_namespace_does_not_admit_is_refused(api: ApiServer) -> None:
    recording = run(yaml.safe_load(text_of("llama-70b-tp4x1", name="closed")))
    prepared(api, recording)
    _, _, template = next(one for one in pods(recording) if one[1] == "leaderTemplate" or "workerTemplate" in one[1])
    own = "exp-closed"
    assert refused(api, own, pod(template, "good")) == ""
    root = pod(template, "root")
    root["spec"]["securityContext"] |= {"runAsNonRoot": False, "runAsUser": 0}
    assert "violates PodSecurity" in refused(api, own, root)
    unfiltered = pod(template, "unfiltered")
    del unfiltered["spec"]["securityContext"]["seccompProfile"]
    assert "seccompProfile" in refused(api, own, unfiltered)
    host = pod(template, "host")
    host["spec"]["volumes"].append({"name": "host", "hostPath": {"path": "/"}})
    assert "violates PodSecurity" in refused(api, f"{own}-logs", host)


def test_more_than_the_nodes_hold_is_refused(api: ApiServer) -> None:
    recording = run(yaml.safe_load(text_of("llama-70b-tp2x2", name="bounded")))
    prepared(api, recording)
    own = "exp-bounded"
    _, _, template = next(pods(recording))
    greedy = pod(template, "greedy")
    greedy["spec"]["containers"][0]["resources"] = {
        kind: {"cpu": "1", "memory": "1Gi", "nvidia.com/gpu": "9"} for kind in ("requests", "limits")
    }
    path = f"/api/v1/namespaces/{own}"
    quota = api.call("GET", f"{path}/resourcequotas/experiment")
    # There is no controller here to count what is used; nothing is.
    status = {**quota, "status": {"hard": quota["spec"]["hard"], "used": dict.fromkeys(quota["spec"]["hard"], "0")}}
    api.call("PUT", f"{path}/resourcequotas/experiment/status", status)
    assert "exceeded quota" in refused(api, own, greedy)
    balancer = {"metadata": {"name": "open"}, "spec": {"type": "LoadBalancer", "ports": [{"port": 80}]}}
    code, text = api.ask("POST", f"{path}/services?dryRun=All", balancer)
    assert code == 403
    assert "exceeded quota" in text
