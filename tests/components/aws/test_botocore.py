"""Every AWS resource of every stack, held against botocore's own models of the requests that make it."""

from collections.abc import Iterator
from typing import Any

import pytest

from rehearsal.aws.models import complaints
from rehearsal.aws.requests import UnreadError, requests
from tests.components.aws.test_ground import OWN, varied
from tests.recording import Recording, recorded

pytestmark = pytest.mark.thorough

VARIANTS: dict[str, dict[str, Any]] = {
    "usual": {},
    "close together, with EFA": {
        "nodes__engine": {"instance": "c7g.16xlarge", "count": 2, "efa": True, "placement_group": True},
    },
    "reserved": {"nodes__engine__purchase": "reservation", "nodes__engine__reservation": "cr-0123456789abcdef0"},
    "warned": {"cluster__warn_topic": "arn:aws:sns:us-east-1:123456789012:deadlines"},
    "spot": {"nodes__engine__purchase": "spot"},
    "with a log of its own": {"logs": {"kind": "cloudwatch"}},
    "longest names": {
        "name": "x" * 63,
        "owner": "o" * 200,
        "purpose": "p, and q? " * 19 + "end",
        "tags": {"k" * 128: "v" * 256},
    },
}


def made(recording: Recording) -> Iterator[tuple[str, str, list[str]]]:
    for resource in recording.resources:
        if resource.type.startswith(("aws:", "eks:")):
            for request in requests(resource.type, resource.inputs):
                found = complaints(request.service, request.operation, request.params)
                yield resource.label, f"{request.service}.{request.operation}", found


@pytest.mark.parametrize("stack", OWN)
def test_aws_would_take_every_resource_of_the_stack(stack: str) -> None:
    checked = list(made(recorded(stack)))
    assert {operation for _, operation, _ in checked} >= {
        "eks.CreateCluster", "eks.CreateNodegroup", "eks.UpdateNodegroupConfig", "ec2.CreateLaunchTemplate",
        "scheduler.CreateSchedule", "iam.CreateRole",
    }  # fmt: skip
    assert [(label, found) for label, _, found in checked if found] == []


@pytest.mark.parametrize("changes", VARIANTS.values(), ids=VARIANTS)
def test_aws_would_take_every_variant(changes: dict[str, Any]) -> None:
    assert [(label, found) for label, _, found in made(varied(**changes)) if found] == []


@pytest.mark.parametrize(
    ("operation", "params", "complaint"),
    [
        ("CreateNodegroup", {"clusterName": "c", "nodegroupName": "n", "subnets": []}, "nodeRole: missing"),
        ("CreateAddon", {"clusterName": "-", "addonName": "vpc-cni"}, "is not as"),
        ("CreateAddon", {"clusterName": "c", "addonName": "a", "resolveConflicts": "MAYBE"}, "is none of"),
        ("CreateAddon", {"clusterName": "c", "addonName": "a", "addon_version": "v1"}, "addon_version: unknown"),
        ("CreateAddon", {"clusterName": "c" * 101, "addonName": "a"}, "is more than 100"),
        ("CreateAddon", {"clusterName": "c", "addonName": "a", "tags": ["t"]}, "no map"),
    ],
)
def test_what_the_models_forbid_is_seen(operation: str, params: dict[str, Any], complaint: str) -> None:
    assert any(complaint in found for found in complaints("eks", operation, params))


def test_an_input_that_no_request_carries_is_seen() -> None:
    with pytest.raises(UnreadError, match="unheardOf"):
        requests("aws:sqs/queue:Queue", {"messageRetentionSeconds": 60, "sqsManagedSseEnabled": True, "unheardOf": 1})
