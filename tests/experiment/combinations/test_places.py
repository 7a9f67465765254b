from typing import Any

import pytest

from tests.experiment.stacks import refused

DECLARED = {"count": 2, "cpu": 7.9, "memory_gib": 29.8, "selector": {"a": "b"}}
INSTANCES = {"instance": "m7g.2xlarge", "count": 2}
ENDPOINTS = {"kind": "new", "egress": "endpoints"}
ECR = "123456789012.dkr.ecr.us-east-1.amazonaws.com/engine:v0.31.0"


@pytest.mark.parametrize(
    ("stack", "change", "path", "found", "remedy"),
    [
        (
            "gemma-1b-split", {"nodes__engine": DECLARED},
            "nodes.engine", "declared nodes with cluster.kind eks", "instance: m7g.2xlarge",
        ),
        (
            "rehearsal-split", {"nodes__engine": INSTANCES},
            "nodes.engine", "instance m7g.2xlarge with cluster.kind kubeconfig", "selector",
        ),
        (
            "gemma-1b-split", {"benchmark__results": {"kind": "local", "path": "/x"}},
            "benchmark.results.kind", "local with cluster.kind eks", "kind: s3",
        ),
        (
            "rehearsal-split", {"observe": {"dcgm": True}},
            "observe.dcgm", "true with cluster.kind kubeconfig", "NVIDIA's operator",
        ),
        (
            "gemma-1b-split", {"observe": {"dcgm": True}},
            "observe.dcgm", "true with nodes without GPUs", "Leave it out",
        ),
        (
            "gemma-1b-split", {"benchmark__results": {"kind": "claim"}},
            "benchmark.results.kind", "claim with cluster.kind eks", "kind: s3",
        ),
        (
            "rehearsal-split", {"benchmark__results": {"kind": "s3"}},
            "benchmark.results.kind", "s3 with cluster.kind kubeconfig", "kind: claim",
        ),
        (
            "rehearsal-split", {"logs": {"kind": "cloudwatch"}},
            "logs.kind", "cloudwatch with cluster.kind kubeconfig", "kind: files",
        ),
        ("gemma-1b-split", {"lws": {"mode": "existing"}}, "lws.mode", "existing with cluster.kind eks", "install"),
        (
            "rehearsal-split", {"model__weights": {"source": "s3", "uri": "s3://bucket/gemma"}},
            "model.weights.source", "s3 with cluster.kind kubeconfig", "source: directory",
        ),
        (
            "rehearsal-split",
            {"model__token_secret": "arn:aws:secretsmanager:us-east-1:123456789012:secret:hub-AbCdEf"},
            "model.token_secret", "an ARN with cluster.kind kubeconfig", "Name a Kubernetes Secret",
        ),
        (
            "rehearsal-split", {"model__weights": {"source": "hub", "cache": "node"}},
            "model.revision", "nothing with model.weights.cache node", "Name a commit",
        ),
        (
            "gemma-1b-split", {"model__token_secret": None},
            "model.token_secret", "nothing with model.gated true", "model.token_secret",
        ),
        (
            "gemma-1b-split", {"model__gated": False, "model__token_secret": None},
            "model.gated", "false with model.weights.source hub", "Set gated: true. Accept the licence",
        ),
    ],
)  # fmt: skip
def test_what_one_kind_of_cluster_has_not(
    stack: str, change: dict[str, Any], path: str, found: str, remedy: str
) -> None:
    (problem,) = refused(stack, **change)
    assert (problem.path, problem.found) == (path, found)
    assert remedy in problem.remedy


def test_without_a_gateway_images_and_weights_come_from_aws() -> None:
    found = refused("gemma-1b-split", cluster__network=ENDPOINTS)
    assert [problem.path for problem in found] == ["engine.image", "lws.image", "logs.image", "model.weights.source"]
    assert all("with cluster.network.egress endpoints" in problem.found for problem in found)
    inside = {"engine__image": {"arm64": ECR}, "lws__image": ECR, "logs__image": ECR}
    assert [p.path for p in refused("gemma-1b-split", cluster__network=ENDPOINTS, **inside)] == ["model.weights.source"]
    weights = {"source": "s3", "uri": "s3://bucket/gemma"}
    assert refused("gemma-1b-split", cluster__network=ENDPOINTS, model__weights=weights, **inside) == []


def test_each_image_of_another_registry_is_named() -> None:
    both = {"arm64": "docker.io/a/b:1", "amd64": ECR}
    others: dict[str, Any] = {"lws__image": ECR, "logs": {"kind": "none"}}
    found = refused("gemma-1b-split", cluster__network=ENDPOINTS, engine__image=both, **others)
    assert [problem.path for problem in found] == ["engine.image.arm64", "model.weights.source"]


def test_weights_from_elsewhere_need_no_token() -> None:
    elsewhere = {"source": "s3", "uri": "s3://bucket/gemma"}
    assert refused("gemma-1b-split", model__token_secret=None, model__weights=elsewhere) == []


def test_a_rehearsals_stand_in_needs_no_token() -> None:
    assert refused("rehearsal-split") == []
