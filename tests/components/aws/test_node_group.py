"""A group that AWS does not give its nodes: what a person is told beside the provider's own words."""

import pulumi
import pytest

from tests.components.aws.stack import settings
from tests.recording import run

URN = "urn:pulumi:s::splitbed::aws:eks/nodeGroup:NodeGroup::testbed-ground-engine-nodes"
HALF_MADE = "unexpected state 'CREATE_FAILED', wanted target 'ACTIVE'. last error: asg: AsgInstanceLaunchFailures: {}"


def told(monkeypatch: pytest.MonkeyPatch, error: str) -> list[str]:
    from components.aws import node_group  # when pytest would no longer take the SDK's own warnings for errors

    said: list[str] = []
    monkeypatch.setattr(pulumi.log, "error", said.append)
    failure = pulumi.ErrorHookArgs(URN, "", "engine", "aws:eks/nodeGroup:NodeGroup", errors=[error, "an older one"])
    assert node_group.tell(failure) is False, "it is not tried again by itself"
    return said


def test_the_cause_and_the_way_on_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    (said,) = told(monkeypatch, HALF_MADE.format("VcpuLimitExceeded - You have requested more vCPU capacity"))
    assert "the account may not have so many vCPUs at once" in said
    assert f"pulumi up --replace '{URN}'" in said


def test_of_an_unknown_cause_the_way_on_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    (said,) = told(monkeypatch, HALF_MADE.format("the moon"))
    assert f"pulumi up --replace '{URN}'" in said


def test_a_group_that_was_not_made_need_not_be_made_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    (said,) = told(
        monkeypatch, "InvalidRequestException: You are not authorized to launch instances with this template"
    )
    assert "not allowed" in said
    assert "--replace" not in said
    assert told(monkeypatch, "InvalidParameterException: Subnets are wrong") == []


def test_each_group_has_somebody_to_tell() -> None:
    groups = run(settings()).of_type("aws:eks/nodeGroup:NodeGroup")
    assert sorted(hook for group in groups for hook in group.on_error) == [
        "testbed-ground-engine-failed",
        "testbed-ground-system-failed",
    ]
