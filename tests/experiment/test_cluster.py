from typing import Any

import pytest

from experiment.cluster import EksCluster
from tests.experiment.stacks import refused, settings_of

EXISTING = {"kind": "existing", "vpc": "vpc-0123456789abcdef0"}
SUBNETS = ["subnet-0123456789abcdef0", "subnet-0123456789abcdef1"]


def eks(**changes: Any) -> EksCluster:
    cluster = settings_of("gemma-1b-split", **{f"cluster__{key}": value for key, value in changes.items()}).cluster
    assert isinstance(cluster, EksCluster)
    return cluster


def test_what_need_not_be_said() -> None:
    assert (
        eks().model_dump().items()
        >= {
            "kind": "eks",
            "region": "us-east-1",
            "zones": ("us-east-1a", "us-east-1b"),
            "version": "1.34",
            "account": None,
            "endpoint": {"kind": "private"},
            "network": {"kind": "new", "cidr": "10.42.0.0/16", "egress": "nat"},
            "admins": (),
            "log_retention_days": 30,
        }.items()
    )


@pytest.mark.parametrize(
    ("key", "value", "path", "said"),
    [
        ("region", "us-east", "region", "it has characters that cannot stand there"),
        ("zones", ["us-east-1a"], "zones", "it needs 2 entries or more"),
        ("zones", ["us-east-1a", "us-east-1a"], "", "a zone is named twice. Name two different zones or more."),
        ("zones", ["us-east-1a", "eu-west-1a"], "", "zone eu-west-1a is not in us-east-1. Name zones as us-east-1a."),
        ("version", 1.34, "version", "it is not text. Put it in quotes."),
        ("account", 123456789012, "account", "it is not text. Put it in quotes."),
        ("account", "12345", "account", "it has characters that cannot stand there"),
        ("endpoint", {"kind": "public"}, "endpoint.cidrs", "it is missing."),
        (
            "endpoint",
            {"kind": "public", "cidrs": ["0.0.0.0/0"]},
            "endpoint.cidrs.0",
            "that lets (nearly) the whole world",
        ),
        ("endpoint", {"kind": "public", "cidrs": ["128.0.0.0/1"]}, "endpoint.cidrs.0", "that lets (nearly) the whole"),
        (
            "endpoint",
            {"kind": "public", "cidrs": ["203.0.113.7/24"]},
            "endpoint.cidrs.0",
            "it is no range of IPv4 addr",
        ),
        ("endpoint", {"kind": "public", "cidrs": ["::/0"]}, "endpoint.cidrs.0", "it is no range of IPv4 addresses"),
        ("endpoint", {"kind": "open"}, "endpoint.kind", "there is no such kind. Choose one of private, public."),
        ("network", {"kind": "new", "cidr": "8.8.0.0/16"}, "network.cidr", "a network for this is private and between"),
        ("network", {"kind": "new", "cidr": "10.0.0.0/8"}, "network.cidr", "a network for this is private and between"),
        (
            "network",
            {**EXISTING, "subnets": [*SUBNETS, "subnet-0123456789abcdef2"]},
            "",
            "there are 3 subnets and 2 zo",
        ),
        ("network", {**EXISTING, "subnets": SUBNETS[:1]}, "network.subnets", "it needs 2 entries or more"),
        ("network", {**EXISTING, "subnets": ["eni-1", "eni-2"]}, "network.subnets.0", "it has characters that cannot"),
        ("admins", ["arn:aws:iam::1:root"], "admins.0", "it has characters that cannot stand there"),
        ("log_retention_days", 31, "log_retention_days", "CloudWatch keeps no logs for just so many days. Take one of"),
    ],
)
def test_what_cannot_be(key: str, value: Any, path: str, said: str) -> None:
    problem = refused("gemma-1b-split", **{f"cluster__{key}": value})[0]
    assert problem.path == f"cluster.{path}".rstrip(".")
    assert said in f"{problem.why}. {problem.remedy}"


def test_a_network_that_is_there() -> None:
    assert eks(network={**EXISTING, "subnets": SUBNETS}).network.model_dump()["subnets"] == tuple(SUBNETS)


@pytest.mark.parametrize("text", ["203.0.113.0/24", "198.51.100.7/32", "10.0.0.0/8"])
def test_ranges_that_a_person_works_from(text: str) -> None:
    assert eks(endpoint={"kind": "public", "cidrs": [text]}).endpoint.kind == "public"


def test_an_administrator_is_a_role_or_a_user() -> None:
    names = ["arn:aws:iam::123456789012:role/path/Admin", "arn:aws-us-gov:iam::123456789012:user/me@example.org"]
    assert eks(admins=names).admins == tuple(names)
