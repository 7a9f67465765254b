"""Each rule on single resources: what breaks it, what is near and does not."""

import importlib
import inspect
from typing import Any

import pytest

from policies.rules.tags import UNTAGGABLE
from policies.seen import UNKNOWN, Seen
from tests.policies.seeing import complaints

TAGS = {
    "splitbed:experiment": "e",
    "splitbed:owner": "o",
    "splitbed:purpose": "p",
    "splitbed:end-date": "2026-12-31T18:00:00+01:00",
}
CLUSTER = "aws:eks/cluster:Cluster"
GROUP_RULE = "aws:ec2/securityGroupRule:SecurityGroupRule"
SERVICE = "kubernetes:core/v1:Service"


def broken(token: str, **props: Any) -> list[str]:
    return list(complaints(Seen(type=token, props=props)))


@pytest.mark.parametrize("key", TAGS)
def test_each_tag_is_needed(key: str) -> None:
    tags = {other: value for other, value in TAGS.items() if other != key}
    said = complaints(Seen(type="aws:sqs/queue:Queue", props={"tags": tags}))
    assert said["tagged-with-an-end"][0].startswith(f"It has no tag {key}. ")


@pytest.mark.parametrize("end", ["2026-12-31T18:00:00", "2026-12-31", "soon", "never"])
def test_an_end_is_a_moment_with_a_time_zone(end: str) -> None:
    said = complaints(Seen(type="aws:sqs/queue:Queue", props={"tags": {**TAGS, "splitbed:end-date": end}}))
    assert f"{end!r}, which is no moment" in said["tagged-with-an-end"][0]


@pytest.mark.parametrize("end", ["2026-12-31T18:00:00Z", "2026-12-31T18:00:00+01:00", UNKNOWN])
def test_any_moment_will_do(end: Any) -> None:
    assert broken("aws:sqs/queue:Queue", tags={**TAGS, "splitbed:end-date": end}) == []


@pytest.mark.parametrize("token", ["pulumi:providers:aws", "splitbed:index:Ground", "kubernetes:core/v1:ConfigMap"])
def test_what_has_no_tags_in_aws_needs_none(token: str) -> None:
    assert broken(token) == []


@pytest.mark.parametrize("token", sorted(UNTAGGABLE))
def test_what_is_called_untaggable_takes_no_tags_in_the_sdk(token: str) -> None:
    _, place, name = token.split(":")
    module = importlib.import_module(f"pulumi_aws.{place.partition('/')[0]}")
    arguments = inspect.signature(getattr(module, name)._internal_init).parameters
    assert len(arguments) > 3
    assert "tags" not in arguments


@pytest.mark.parametrize(
    ("token", "props"),
    [
        ("eks:index:Cluster", {"tags": TAGS}),
        ("eks:index:Cluster", {"tags": TAGS, "endpointPublicAccess": True, "publicAccessCidrs": ["0.0.0.0/0"]}),
        (CLUSTER, {"tags": TAGS}),
        (CLUSTER, {"tags": TAGS, "vpcConfig": {"publicAccessCidrs": []}}),
        (CLUSTER, {"tags": TAGS, "vpcConfig": {"publicAccessCidrs": ["203.0.113.0/24", "128.0.0.0/1"]}}),
        (GROUP_RULE, {"type": "ingress", "cidrBlocks": ["0.0.0.0/0"]}),
        (GROUP_RULE, {"type": "ingress", "ipv6CidrBlocks": ["::/0"]}),
        ("aws:ec2/securityGroup:SecurityGroup", {"tags": TAGS, "ingress": [{"cidrBlocks": ["0.0.0.0/0"]}]}),
        ("aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule", {"tags": TAGS, "cidrIpv4": "0.0.0.0/0"}),
        ("aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule", {"tags": TAGS, "cidrIpv6": "::/0"}),
    ],
)
def test_what_is_open_to_the_world(token: str, props: dict[str, Any]) -> None:
    assert broken(token, **props) == ["closed-to-the-world"]


@pytest.mark.parametrize(
    ("token", "props"),
    [
        ("eks:index:Cluster", {}),  # as the real component registers itself
        ("eks:index:Cluster", {"tags": TAGS, "endpointPublicAccess": False}),
        ("eks:index:Cluster", {"tags": TAGS, "publicAccessCidrs": ["203.0.113.0/24"]}),
        ("eks:index:Cluster", {"tags": TAGS, "publicAccessCidrs": UNKNOWN}),
        (CLUSTER, {"tags": TAGS, "vpcConfig": {"endpointPublicAccess": False}}),
        (CLUSTER, {"tags": TAGS, "vpcConfig": {"publicAccessCidrs": ["198.51.100.7/32"]}}),
        (CLUSTER, {"tags": TAGS, "vpcConfig": UNKNOWN}),
        (GROUP_RULE, {"type": "egress", "cidrBlocks": ["0.0.0.0/0"]}),
        (GROUP_RULE, {"type": "ingress", "cidrBlocks": ["10.0.0.0/8"]}),
        (GROUP_RULE, {"type": "ingress", "cidrBlocks": [UNKNOWN]}),
        (GROUP_RULE, {"type": "ingress", "cidrBlocks": ["no range at all"]}),
        ("aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule", {"tags": TAGS, "cidrIpv4": "203.0.113.0/24"}),
        ("aws:ec2/securityGroup:SecurityGroup", {"tags": TAGS, "ingress": UNKNOWN}),
    ],
)
def test_what_is_not_open_to_the_world(token: str, props: dict[str, Any]) -> None:
    assert broken(token, **props) == []


@pytest.mark.parametrize(
    ("token", "props"),
    [
        (SERVICE, {"spec": {"type": "LoadBalancer"}}),
        ("kubernetes:networking.k8s.io/v1:Ingress", {"spec": {}}),
        ("aws:lb/loadBalancer:LoadBalancer", {"tags": TAGS}),
        ("aws:elb/loadBalancer:LoadBalancer", {"tags": TAGS}),
    ],
)
def test_what_makes_a_load_balancer(token: str, props: dict[str, Any]) -> None:
    assert broken(token, **props) == ["no-load-balancer"]


@pytest.mark.parametrize("spec", [{}, {"type": "ClusterIP"}, {"type": UNKNOWN}, UNKNOWN])
def test_other_services_are_let_be(spec: Any) -> None:
    assert broken(SERVICE, spec=spec) == []


@pytest.mark.parametrize("kind", ["containers", "initContainers", "ephemeralContainers"])
@pytest.mark.parametrize("image", ["nginx", "nginx:latest", "registry.example/engine", "registry.example/e:main", None])
def test_an_image_that_moves(kind: str, image: str | None) -> None:
    container = {"name": "c"} | ({} if image is None else {"image": image})
    props = {"spec": {"containers": [], kind: [container]}}
    (said,) = complaints(Seen(type="kubernetes:core/v1:Pod", props=props))["pinned"]
    assert said.startswith(f"Container c has image {image or ''!r}: ")


@pytest.mark.parametrize(
    "image", ["registry.example/engine:1.2.3", f"registry.example/engine@sha256:{'0' * 64}", UNKNOWN]
)
def test_an_image_that_stays_or_is_not_known_yet(image: Any) -> None:
    props = {"spec": {"template": {"spec": {"containers": [{"name": "c", "image": image}]}}}}
    assert broken("kubernetes:apps/v1:Deployment", **props) == []


@pytest.mark.parametrize(
    ("props", "wrong"),
    [
        ({"chart": "oci://registry.example/charts/lws"}, True),
        ({"chart": "lws", "repositoryOpts": {"repo": "https://charts.example"}}, True),
        ({"chart": "oci://registry.example/charts/lws", "version": "0.9.0"}, False),
        ({"chart": "oci://registry.example/charts/lws", "version": UNKNOWN}, False),
        ({"chart": "/built/lws-chart"}, False),
    ],
)
def test_a_chart_from_a_registry_has_a_version(props: dict[str, Any], wrong: bool) -> None:
    assert broken("kubernetes:helm.sh/v4:Chart", **props) == (["pinned"] if wrong else [])


def engine_pods(**resources: Any) -> list[str]:
    container = {"name": "engine", "image": "registry.example/engine:1.2.3", **resources}
    return complaints(
        Seen(
            type="kubernetes:leaderworkerset.x-k8s.io/v1:LeaderWorkerSet",
            props={"spec": {"leaderWorkerTemplate": {"workerTemplate": {"spec": {"containers": [container]}}}}},
        )
    ).get("engines-get-what-they-ask-for", [])


FULL = {"cpu": "6", "memory": "20Gi"}


def test_an_engine_gets_what_it_asks_for() -> None:
    assert engine_pods(resources={"requests": FULL, "limits": FULL}) == []
    (said,) = engine_pods(resources={"requests": FULL, "limits": {**FULL, "cpu": "8"}})
    assert "asks for cpu 6, memory 20Gi and may use cpu 8, memory 20Gi" in said
    (said,) = engine_pods(resources={"requests": FULL})
    assert "may use anything" in said


@pytest.mark.parametrize("resources", [{}, {"resources": {}}, {"resources": {"limits": {}, "requests": {}}}])
def test_an_engine_asks_for_something(resources: Any) -> None:
    assert engine_pods(**resources) == ["Container engine asks for no cpu and no memory. Set engine.resources."]


@pytest.mark.parametrize("resources", [UNKNOWN, {"requests": UNKNOWN, "limits": FULL}])
def test_resources_that_are_not_known_yet_are_not_judged(resources: Any) -> None:
    assert engine_pods(resources=resources) == []


def test_other_pods_may_burst() -> None:
    container = {"name": "c", "image": "registry.example/engine:1.2.3", "resources": {"requests": FULL}}
    assert broken("kubernetes:core/v1:Pod", spec={"containers": [container]}) == []


def test_nothing_is_protected() -> None:
    seen = Seen(type="kubernetes:core/v1:ConfigMap", props={}, protected=True)
    assert complaints(seen) == {
        "nothing-protected": ["It is protected, so `pulumi destroy` would stop at it. Leave out protect."]
    }
