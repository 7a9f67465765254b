"""Every IAM document of every stack, held against AWS's own tables of actions and resources by cfn-lint."""

import hashlib
import json
from typing import Any

import pytest
from cfnlint.api import lint  # type: ignore[import-untyped]
from cfnlint.config import ManualArgs  # type: ignore[import-untyped]

from tests.components.aws.stack import settings
from tests.components.aws.test_ground import OWN
from tests.recording import Recording, recorded, run

_CHECKS = ManualArgs(regions=["us-east-1"], include_checks=["I3510", "W3037"])


def unique(document: Any) -> str:
    """A name that no other document has."""
    return f"p{hashlib.sha256(json.dumps(document).encode()).hexdigest()[:12]}"


def resources(recording: Recording) -> dict[str, dict[str, Any]]:
    """Return the documents as resources of a CloudFormation template, by what they say."""
    found = {}
    for role in recording.of_type("aws:iam/role:Role"):
        document = json.loads(role.inputs["assumeRolePolicy"])
        found[f"trust of {role.name}"] = {
            "Type": "AWS::IAM::Role",
            "Properties": {"AssumeRolePolicyDocument": document},
        }
    for policy in recording.of_type("aws:iam/rolePolicy:RolePolicy"):
        document = json.loads(policy.inputs["policy"])
        found[f"policy of {policy.name}"] = {
            "Type": "AWS::IAM::RolePolicy",
            "Properties": {"RoleName": "role", "PolicyName": unique(document), "PolicyDocument": document},
        }
    for policy in recording.of_type("aws:s3/bucketPolicy:BucketPolicy"):
        document = json.loads(policy.inputs["policy"])
        found[f"bucket policy of {policy.name}"] = {
            "Type": "AWS::S3::BucketPolicy",
            "Properties": {"Bucket": policy.inputs["bucket"], "PolicyDocument": document},
        }
    return found


def complaints(documents: dict[str, dict[str, Any]]) -> list[str]:
    template = {
        "AWSTemplateFormatVersion": "2010-09-09",
        "Resources": {f"R{index}": resource for index, resource in enumerate(documents.values())},
    }
    return [f"{match.rule.id} {match.path}: {match.message}" for match in lint(json.dumps(template), config=_CHECKS)]


@pytest.mark.thorough
def test_the_documents_of_all_stacks_are_what_iam_takes() -> None:
    found = [resources(recorded(stack)) for stack in OWN] + [resources(run(settings()))]
    assert all(len(documents) >= 6 for documents in found)
    different = {json.dumps(each): each for documents in found for each in documents.values()}
    assert complaints(different) == []


@pytest.mark.parametrize(
    ("statement", "rule"),
    [
        ({"Effect": "Allow", "Action": ["eks:UpdateNodegroupConf"], "Resource": ["*"]}, "W3037"),
        ({"Effect": "Allow", "Action": ["eks:UpdateNodegroupConfig"], "Resource": ["arn:aws:s3:::b"]}, "I3510"),
        ({"Effect": "Alow", "Action": ["s3:GetObject"], "Resource": ["arn:aws:s3:::b/*"]}, "E3510"),
    ],
)
def test_a_wrong_document_is_seen(statement: dict[str, Any], rule: str) -> None:
    document = {"Version": "2012-10-17", "Statement": [statement]}
    properties = {"RoleName": "role", "PolicyName": "policy", "PolicyDocument": document}
    found = complaints({"wrong": {"Type": "AWS::IAM::RolePolicy", "Properties": properties}})
    assert any(complaint.startswith(rule) for complaint in found)


def statements(recording: Recording, part: str) -> list[dict[str, Any]]:
    (policy,) = [each for each in recording.of_type("aws:iam/rolePolicy:RolePolicy") if part in each.name]
    found: list[dict[str, Any]] = json.loads(policy.inputs["policy"])["Statement"]
    return found


def test_the_scheduler_may_set_these_node_groups_to_zero_and_nothing_else() -> None:
    recording = recorded("gemma-1b-split")
    scale, tell = statements(recording, "-end-date-")
    assert scale["Action"] == ["eks:UpdateNodegroupConfig"]
    assert scale["Resource"] == [
        f"arn:aws:eks:us-east-1:*:nodegroup/exp-gemma-1b-split/{group}/*" for group in ("system", "engine")
    ]
    assert tell["Action"] == ["sqs:SendMessage"]
    (queue,) = tell["Resource"]
    assert queue.startswith("arn:aws:sqs:us-east-1:123456789012:testbed-ground-end-date-dead-letters")


def test_the_benchmark_may_reach_its_runs_own_prefix_and_nothing_else() -> None:
    recording = run(settings(benchmark__results={"kind": "s3", "bucket": "everybodys"}, benchmark__run="r7"))
    objects, listing = statements(recording, "-results-")
    assert objects["Action"] == ["s3:GetObject", "s3:PutObject"]
    assert objects["Resource"] == ["arn:aws:s3:::everybodys/some-split/r7/*"]
    assert listing["Resource"] == ["arn:aws:s3:::everybodys"]
    assert listing["Condition"] == {"StringLike": {"s3:prefix": ["some-split/r7", "some-split/r7/*"]}}
    assert recording.of_type("aws:s3/bucket:Bucket") == [], "a bucket that was given is not ours to make"


def test_the_shipper_may_write_into_its_stream_and_nothing_else() -> None:
    (statement,) = statements(recorded("gemma-1b-split"), "-pod-log-")
    assert statement["Action"] == ["logs:PutLogEvents"]
    (stream,) = statement["Resource"]
    assert stream.startswith("arn:aws:logs:us-east-1:123456789012:log-group:")
    assert stream.endswith("/splitbed/exp-gemma-1b-split:log-stream:pods")


def test_roles_are_taken_by_whom_they_are_for_alone() -> None:
    recording = recorded("gemma-1b-split")
    trusts = {
        role.name: json.loads(role.inputs["assumeRolePolicy"])["Statement"][0]
        for role in recording.of_type("aws:iam/role:Role")
    }
    assert {statement["Principal"]["Service"] for statement in trusts.values()} == {
        "ec2.amazonaws.com",
        "scheduler.amazonaws.com",
        "pods.eks.amazonaws.com",
    }
    (scheduler,) = [each for name, each in trusts.items() if "end-date" in name]
    assert scheduler["Condition"] == {
        "StringEquals": {"aws:SourceArn": "arn:aws:scheduler:us-east-1:123456789012:schedule-group/exp-gemma-1b-split"}
    }
    (pods,) = [each for name, each in trusts.items() if "results" in name]
    assert pods["Condition"]["StringEquals"] == {
        "aws:RequestTag/eks-cluster-name": "exp-gemma-1b-split",
        "aws:RequestTag/kubernetes-namespace": "exp-gemma-1b-split",
        "aws:RequestTag/kubernetes-service-account": "benchmark",
    }
