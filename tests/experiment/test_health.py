"""What AWS says of a group without its nodes, in the words of public reports, becomes a sentence that helps."""

import pytest

from experiment import health

PROVIDER = (
    "waiting for EKS Node Group (exp-e:engine) create: unexpected state 'CREATE_FAILED', wanted target 'ACTIVE'. "
    "last error: eks-engine-74c1: AsgInstanceLaunchFailures: {}"
)


@pytest.mark.parametrize(
    ("message", "said", "remedy"),
    [
        (
            (
                "Could not launch On-Demand Instances. InsufficientInstanceCapacity - We currently do not have "
                "sufficient p4d.24xlarge capacity in the Availability Zone you requested (us-east-1a)."
            ),
            "no such instance free",
            "Another zone first in cluster.zones",
        ),
        (
            (
                "Could not launch On-Demand Instances. VcpuLimitExceeded - You have requested more vCPU capacity than "
                "your current vCPU limit of 32 allows for the instance bucket that the instance type belongs to."
            ),
            "may not have so many vCPUs",
            "splitbed preflight",
        ),
        ("You've reached your quota for maximum Fleet Requests for this account.", "may not have", "quota"),
        (
            (
                "Could not launch On-Demand Instances. TagPolicyException - The tag policy does not allow the "
                "specified value for the following tag key: 'CostCenter'."
            ),
            "a tag policy of the organisation",
            "under tags in the stack's file",
        ),
        (
            (
                "Could not launch On-Demand Instances. UnauthorizedOperation - You are not authorized to perform this "
                "operation. Encoded authorization failure message: abc"
            ),
            "not allowed",
            "tags that the policy asks for",
        ),
        (
            (
                "Your requested instance type (m7g.2xlarge) is not supported in your requested Availability Zone "
                "(us-east-1e). Launching EC2 instance failed."
            ),
            "does not have the instance type",
            "preflight",
        ),
        (
            (
                "Your request for accessing resources in this region is being validated, and you will not be able to "
                "launch additional resources in this region until the validation is complete."
            ),
            "still checking",
            "Waiting",
        ),
        (
            (
                "Instance became unhealthy while waiting for instance to be in InService state. Termination Reason: "
                "Client.InvalidKMSKey.InvalidState: The KMS key provided is in an incorrect state"
            ),
            "the disk's key",
            "AWSServiceRoleForAutoScaling",
        ),
        ("Client.InternalError: Client error on launch", "the disk's key", "AWSServiceRoleForAutoScaling"),
    ],
)
def test_the_cause_is_found_in_an_issue_and_in_a_providers_error(message: str, said: str, remedy: str) -> None:
    for text in (f"AsgInstanceLaunchFailures: {message}", PROVIDER.format(message)):
        found = health.cause(text)
        assert found is not None
        assert said in found.said
        assert remedy in found.remedy


def test_of_a_launch_that_failed_and_nodes_that_did_not_come_the_first_is_the_cause() -> None:
    both = PROVIDER.format("VcpuLimitExceeded - more; DUMMY_1: NodeCreationFailure: Instances failed to join")
    assert health.cause(both) == health.cause("VcpuLimitExceeded")


def test_nodes_that_do_not_join_have_no_way_out() -> None:
    found = health.cause("NodeCreationFailure: Instances failed to join the kubernetes cluster")
    assert found is not None
    assert "cluster.network" in found.remedy


def test_what_is_not_known_is_not_guessed() -> None:
    assert health.cause("ClusterUnreachable: the moon is in the way") is None


def test_each_sentence_goes_on_as_the_commands_write_it() -> None:
    for _, one in health._KNOWN:
        assert not one.said.endswith(".")
        assert not one.remedy.endswith(".")
