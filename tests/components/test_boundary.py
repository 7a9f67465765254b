"""What the network policies of the stacks let through, what the quotas allow, and which pods a namespace admits."""

import json
from typing import Any

import pytest

from experiment.quota import quota
from tests.components.netpolicies import End, passes
from tests.experiment.stacks import settings_of, text_of
from tests.recording import STACKS, Recording, recorded, run

POLICY = "kubernetes:networking.k8s.io/v1:NetworkPolicy"
COMPONENT = "app.kubernetes.io/component"
ANYBODY, STRANGER = End(address="203.0.113.7"), End("somebody-elses", {COMPONENT: "engine"})
AGENT = End(address="169.254.170.23")


def policies(recording: Recording) -> list[dict[str, Any]]:
    return [dict(each.inputs) for each in recording.of_type(POLICY)]


def other(stack: str, **changes: Any) -> Recording:
    return run(json.loads(text_of(stack, **changes)))


@pytest.fixture(params=STACKS)
def stack(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_the_stages_of_a_split_reach_each_other_at_any_port(stack: str) -> None:
    found, engine = policies(recorded(stack)), End(f"exp-{stack}", {COMPONENT: "engine"})
    for port in (29501, 8000, 8001, 45678):
        assert passes(found, engine, engine, port)


def test_the_benchmark_reaches_engines_names_and_api(stack: str) -> None:
    found, namespace = policies(recorded(stack)), f"exp-{stack}"
    benchmark, engine = End(namespace, {COMPONENT: "benchmark"}), End(namespace, {COMPONENT: "engine"})
    assert passes(found, benchmark, engine, 8000)
    assert passes(found, benchmark, engine, 8001), "the counters of each pod"
    assert passes(found, benchmark, ANYBODY, 443)
    for end in (benchmark, engine, End(f"{namespace}-logs"), End("lws-system")):
        assert passes(found, end, ANYBODY, 53, "UDP")
        assert passes(found, end, ANYBODY, 53, "TCP")


def test_nobody_else_reaches_anything(stack: str) -> None:
    found, namespace = policies(recorded(stack)), f"exp-{stack}"
    engine, benchmark = End(namespace, {COMPONENT: "engine"}), End(namespace, {COMPONENT: "benchmark"})
    for sender in (ANYBODY, STRANGER, End("lws-system"), End(f"{namespace}-logs")):
        assert not passes(found, sender, engine, 8000)
        assert not passes(found, sender, benchmark, 8000)
    for sender in (engine, benchmark):
        assert not passes(found, sender, ANYBODY, 80)
        assert not passes(found, sender, STRANGER, 8000)
        assert not passes(found, sender, End(address="169.254.169.254"), 80), "the node's own rights"


def test_engines_leave_only_where_they_fetch() -> None:
    directory = {"model__weights": {"source": "directory", "uri": "/models"}}
    gated = policies(recorded("gemma-1b-split"))
    engine = End("exp-gemma-1b-split", {COMPONENT: "engine"})
    assert passes(gated, engine, ANYBODY, 443)
    assert not passes(gated, engine, AGENT, 80), "the hub's token is a Secret, and no right in AWS"
    there = policies(other("gemma-1b-split", **directory, model__token_secret=None, model__gated=False))
    assert not passes(there, engine, ANYBODY, 443)


def test_a_hub_or_a_proxy_at_another_port_is_reached() -> None:
    env = {"HF_ENDPOINT": "http://hub.example:14400", "HTTPS_PROXY": "http://proxy.example:3128", "NO_PROXY": "x:9"}
    found = policies(other("gemma-1b-split", engine__env=env))
    engine = End("exp-gemma-1b-split", {COMPONENT: "engine"})
    assert [port for port in (443, 3128, 14400, 9, 80) if passes(found, engine, ANYBODY, port)] == [443, 3128, 14400]


def test_who_has_rights_in_aws_reaches_the_agent_that_hands_them_out() -> None:
    found = policies(recorded("gemma-1b-split"))
    assert passes(found, End("exp-gemma-1b-split", {COMPONENT: "benchmark"}), AGENT, 80)
    assert passes(found, End("exp-gemma-1b-split-logs", {COMPONENT: "log-shipper"}), AGENT, 80)
    assert passes(found, End("exp-gemma-1b-split-logs", {COMPONENT: "log-shipper"}), ANYBODY, 443)
    bucket = {"source": "s3", "uri": "s3://models/x", "cache": "node"}
    fetching = policies(other("gemma-1b-split", model__weights=bucket, model__token_secret=None, model__gated=False))
    assert passes(fetching, End("exp-gemma-1b-split", {COMPONENT: "engine"}), AGENT, 80)


def test_the_api_server_is_found_at_its_own_port_on_a_given_cluster() -> None:
    found = policies(recorded("rehearsal-split"))
    benchmark = End("exp-rehearsal-split", {COMPONENT: "benchmark"})
    assert [port for port in (443, 6443, 8443, 16443, 10250) if passes(found, benchmark, ANYBODY, port)] == [
        443, 6443, 8443, 16443,
    ]  # fmt: skip


def test_the_api_server_reaches_the_controllers_webhook_and_nothing_else_does_it(stack: str) -> None:
    found = policies(recorded(stack))
    controller = End("lws-system", {"control-plane": "controller-manager"})
    assert passes(found, ANYBODY, controller, 9443)
    assert not passes(found, ANYBODY, controller, 8443)
    assert passes(found, controller, ANYBODY, 443)
    assert not passes(found, controller, End(f"exp-{stack}", {COMPONENT: "engine"}), 8000)


def test_files_on_the_nodes_need_no_way_out() -> None:
    found = policies(other("rehearsal-split", logs={"kind": "files"}))
    shipper = End("exp-rehearsal-split-logs", {COMPONENT: "log-shipper"})
    assert not passes(found, shipper, ANYBODY, 443)


def test_on_eks_the_policies_are_kept() -> None:
    (cni,) = [
        each
        for each in recorded("gemma-1b-split").of_type("aws:eks/addon:Addon")
        if each.inputs["addonName"] == "vpc-cni"
    ]
    assert json.loads(cni.inputs["configurationValues"])["enableNetworkPolicy"] == "true"


def test_a_controller_that_is_there_has_its_namespace_to_itself() -> None:
    found = other("rehearsal-split", lws={"mode": "existing", "version": "0.9.0"})
    assert {policy["metadata"]["namespace"] for policy in policies(found)} == {"exp-rehearsal-split"}


def admitted(recording: Recording) -> dict[str, str]:
    key = "pod-security.kubernetes.io/enforce"
    namespaces = recording.of_type("kubernetes:core/v1:Namespace")
    return {each.inputs["metadata"]["name"]: each.inputs["metadata"]["labels"][key] for each in namespaces}


def test_a_namespace_admits_what_its_pods_need_and_no_more() -> None:
    """What the labels come to is tried on a real API server: tests/engine/test_admission.py."""
    assert admitted(recorded("llama-70b-tp2pp2")) == {
        "exp-llama-70b-tp2pp2": "restricted",
        "exp-llama-70b-tp2pp2-logs": "baseline",
        "lws-system": "restricted",
    }
    assert admitted(recorded("gemma-1b-split"))["exp-gemma-1b-split"] == "baseline"


def test_a_quota_is_twice_what_the_nodes_hold_and_no_service_is_seen_from_outside() -> None:
    hard = quota(settings_of("llama-70b-tp2x2"))
    assert hard["requests.nvidia.com/gpu"] == "8"
    assert (hard["services.loadbalancers"], hard["services.nodeports"]) == ("0", "0")
    assert quota(settings_of("rehearsal-split"))["requests.cpu"] == "9000m"
    assert "requests.nvidia.com/gpu" not in quota(settings_of("gemma-1b-split"))


def test_what_asks_for_nothing_is_admitted_under_the_quota() -> None:
    (limits,) = recorded("rehearsal-single").of_type("kubernetes:core/v1:LimitRange")
    (item,) = limits.inputs["spec"]["limits"]
    assert item["defaultRequest"].keys() == {"cpu", "memory"}
