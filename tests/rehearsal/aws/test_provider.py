"""Resources' lives, asked for as the engine does, and looked at with boto3 as our commands do."""

import grpc
import pytest

from rehearsal.aws.kubernetes import Paper
from rehearsal.aws.services import Failure
from rehearsal.aws.values import UNKNOWN
from rehearsal.aws.world import World
from tests.rehearsal.aws import made
from tests.rehearsal.aws.driver import TAGS, Driver

pytestmark = pytest.mark.thorough


def test_what_is_made_is_there_with_its_tags_and_goes(account: World, aws: Driver) -> None:
    subnet = made.network(aws)
    (found,) = account.services.ask("ec2", "DescribeSubnets", SubnetIds=[subnet["id"]])["Subnets"]
    assert {one["Key"]: one["Value"] for one in found["Tags"]} == TAGS
    aws.delete("subnet")
    assert aws.read("subnet") is None
    aws.delete("subnet")  # again is no error
    aws.delete("vpc")


def test_a_preview_does_not_know_what_aws_gives(aws: Driver) -> None:
    seen = aws.preview("aws:ec2/vpc:Vpc", "vpc", cidrBlock="10.0.0.0/16", tags=TAGS)
    assert (seen["arn"], seen["cidrBlock"], seen["tagsAll"]) == (UNKNOWN, "10.0.0.0/16", TAGS)


def test_default_tags_lie_below_a_resources_own(account: World, aws: Driver) -> None:
    aws.configure(region="us-east-1", defaultTags={"tags": {"splitbed:experiment": "other", "team": "ours"}})
    vpc = aws.create("aws:ec2/vpc:Vpc", "vpc", cidrBlock="10.0.0.0/16", tags=TAGS)
    assert vpc["tagsAll"] == {**TAGS, "team": "ours"}
    aws.configure(region="us-east-1", defaultTags={"tags": {"team": "theirs"}})
    assert aws.diff("vpc")[0] == ["tagsAll"]


@pytest.mark.parametrize(
    ("change", "replaces"),
    [({"cidrBlock": "10.42.16.0/20"}, ["cidrBlock"]), ({"tags": {"a": "b"}}, []), ({}, [])],
)
def test_only_what_is_fixed_needs_another_resource(aws: Driver, change: dict[str, object], replaces: list[str]) -> None:
    made.network(aws)
    differs, replaced, _ = aws.diff("subnet", **change)
    assert replaced == replaces
    assert bool(differs) == bool(change)


def test_of_two_that_would_have_one_name_the_old_one_goes_first(aws: Driver) -> None:
    made.cluster(aws)
    made.node_group(aws)
    assert aws.diff("nodes", instanceTypes=["m7g.4xlarge"])[1:] == (["instanceTypes"], True)


def test_a_name_is_made_once_and_kept(aws: Driver) -> None:
    role = aws.create("aws:iam/role:Role", "role", assumeRolePolicy=made.TRUST, description="d", tags=TAGS)
    assert role["name"].startswith("role-")
    assert aws.diff("role") == ([], [], False)


def test_what_is_required_is_asked_for(aws: Driver) -> None:
    assert aws.check("aws:ec2/subnet:Subnet", "subnet", {})[1] == ["Missing required property 'vpcId'"]


def test_what_the_service_models_forbid_is_refused(aws: Driver) -> None:
    with pytest.raises(grpc.RpcError, match="is not as"):
        made.cluster(aws, name="-")


def test_a_request_fails_on_demand_and_then_no_more(account: World, aws: Driver) -> None:
    account.services.failures["ec2.CreateVpc"] = Failure("VpcLimitExceeded", "The maximum number of VPCs is reached.")
    with pytest.raises(grpc.RpcError, match="VpcLimitExceeded"):
        made.network(aws)
    made.network(aws)


def test_another_account_is_refused(aws: Driver) -> None:
    with pytest.raises(grpc.RpcError, match="not allowed"):
        aws.configure(region="us-east-1", allowedAccountIds='["210987654321"]')


def test_a_launch_template_gets_a_version_for_what_it_starts_and_none_for_its_own_tags(
    account: World, aws: Driver
) -> None:
    made.template(aws)
    assert aws.update("template", tags={"a": "b"}, preview=True)["latestVersion"] == 1
    assert aws.update("template", tags={"a": "b"})["latestVersion"] == 1
    (found,) = account.services.ask("ec2", "DescribeLaunchTemplates")["LaunchTemplates"]
    assert found["Tags"] == [{"Key": "a", "Value": "b"}]
    other = [{"deviceName": "/dev/xvda", "ebs": {"volumeSize": 30, "volumeType": "gp3"}}]
    assert aws.update("template", blockDeviceMappings=other, preview=True)["latestVersion"] == UNKNOWN
    assert aws.update("template", blockDeviceMappings=other)["latestVersion"] == 2


def test_a_node_group_is_instances_with_the_templates_tags_and_nodes(account: World, aws: Driver, paper: Paper) -> None:
    made.cluster(aws)
    made.cni(aws)
    group = made.node_group(aws)
    instances = account.estate.instances("exp-some")
    assert len(instances) == 2
    for one in instances:
        assert TAGS.items() <= {tag["Key"]: tag["Value"] for tag in one["Tags"]}.items()
    assert {node.instance for node in paper.nodes["exp-some"].values()} == {one["InstanceId"] for one in instances}
    volumes = account.services.ask("ec2", "DescribeVolumes")["Volumes"]
    assert all({tag["Key"] for tag in one["Tags"]} >= TAGS.keys() for one in volumes)
    scaling = group["resources"][0]["autoscalingGroups"][0]["name"]
    groups = account.services.ask("autoscaling", "DescribeAutoScalingGroups", AutoScalingGroupNames=[scaling])
    assert groups["AutoScalingGroups"]


def test_a_node_has_the_fabrics_interfaces_that_its_template_names(aws: Driver, paper: Paper) -> None:
    made.cluster(aws)
    efa = {
        "deviceIndex": 0, "networkCardIndex": 0, "interfaceType": "efa", "securityGroups": ["sg-0123456789abcdef0"],
        "deleteOnTermination": "true",
    }  # fmt: skip
    made.node_group(aws, interfaces=[efa])
    assert [node.efa for node in paper.nodes["exp-some"].values()] == [1, 1]


def test_a_node_that_is_replaced_is_born_with_the_groups_tags(account: World, aws: Driver) -> None:
    made.cluster(aws)
    group = made.node_group(aws)
    aws.create(
        "aws:autoscaling/tag:Tag",
        "tag",
        autoscalingGroupName=group["resources"][0]["autoscalingGroups"][0]["name"],
        tag={"key": "splitbed:end-date", "value": "later", "propagateAtLaunch": True},
    )
    old = account.estate.instances("exp-some")
    account.estate.replace("exp-some", old[0]["InstanceId"])
    (new,) = [
        one for one in account.estate.instances("exp-some") if one["InstanceId"] not in {i["InstanceId"] for i in old}
    ]
    assert {"Key": "splitbed:end-date", "Value": "later"} in new["Tags"]


def test_without_capacity_a_group_fails_and_is_in_the_state(account: World, aws: Driver) -> None:
    made.cluster(aws)
    account.estate.limit("m7g.2xlarge", 1)
    with pytest.raises(grpc.RpcError, match=r"CREATE_FAILED.*AsgInstanceLaunchFailures: Could not launch"):
        made.node_group(aws)
    assert len(account.estate.instances("exp-some")) == 1


def test_a_node_that_cannot_be_replaced_leaves_its_group_degraded(account: World, aws: Driver) -> None:
    made.cluster(aws)
    made.node_group(aws)
    account.estate.limit("m7g.2xlarge", 0, "UnauthorizedOperation - not with these tags")
    account.estate.replace("exp-some", account.estate.instances("exp-some")[0]["InstanceId"])
    asked = {"clusterName": "exp-some", "nodegroupName": "engine"}
    group = account.services.ask("eks", "DescribeNodegroup", **asked)["nodegroup"]
    assert (group["status"], group["health"]["issues"][0]["message"]) == (
        "DEGRADED", "UnauthorizedOperation - not with these tags",
    )  # fmt: skip
    account.estate.limit("m7g.2xlarge", None)
    account.estate.settle("exp-some", "engine")
    group = account.services.ask("eks", "DescribeNodegroup", **asked)["nodegroup"]
    assert (group["status"], group["health"]["issues"]) == ("ACTIVE", [])
    assert len(account.estate.instances("exp-some")) == 2


def test_what_is_there_as_it_was_made_is_read_as_it_was_set(aws: Driver) -> None:
    made.cluster(aws)
    made.node_group(aws)
    for name in aws.ids:
        seen = aws.read(name)
        assert seen is not None
        assert seen[1] == aws.inputs[name]


def test_a_group_set_to_zero_behind_its_back_is_seen(account: World, aws: Driver, paper: Paper) -> None:
    made.cluster(aws)
    made.node_group(aws)
    account.services.ask(
        "eks",
        "UpdateNodegroupConfig",
        clusterName="exp-some",
        nodegroupName="engine",
        scalingConfig={"minSize": 0, "maxSize": 2, "desiredSize": 0},
    )
    assert account.estate.instances("exp-some") == []
    assert paper.nodes["exp-some"] == {}
    seen = aws.read("nodes")
    assert seen is not None
    assert seen[1]["scalingConfig"]["desiredSize"] == 0


@pytest.mark.parametrize(
    ("name", "why"), [("cluster", "nodegroups"), ("subnet", "DependencyViolation"), ("vpc", "Depend")]
)
def test_what_something_depends_on_does_not_go(aws: Driver, name: str, why: str) -> None:
    made.cluster(aws)
    made.node_group(aws)
    with pytest.raises(grpc.RpcError, match=why):
        aws.delete(name)


@pytest.mark.parametrize("order", [("nodes", "cni"), ("cni", "nodes")])
def test_interfaces_of_nodes_that_outlive_the_cni_are_left(account: World, aws: Driver, order: tuple[str, str]) -> None:
    made.cluster(aws)
    made.cni(aws)
    made.node_group(aws)
    for name in order:
        aws.delete(name)
    left = account.services.ask("ec2", "DescribeNetworkInterfaces")["NetworkInterfaces"]
    assert len(left) == (0 if order[0] == "nodes" else 2)


def test_a_cluster_deleted_behind_the_engines_back_takes_all_in_it_along(
    account: World, aws: Driver, paper: Paper
) -> None:
    made.cluster(aws)
    made.cni(aws)
    account.services.ask("eks", "DeleteCluster", name="exp-some")
    assert paper.nodes == {}
    assert aws.read("cni") is None
    assert aws.read("cluster") is None
    aws.delete("cni")
    aws.delete("cluster")
    aws.delete("subnet")
    aws.delete("vpc")


def test_a_log_group_that_goes_before_its_cluster_comes_back_untagged(account: World, aws: Driver) -> None:
    name = "/aws/eks/exp-some/cluster"
    aws.create("aws:cloudwatch/logGroup:LogGroup", "log", name=name, retentionInDays=30, tags=TAGS)
    made.cluster(aws)
    aws.delete("log")
    (found,) = account.services.ask("logs", "DescribeLogGroups")["logGroups"]
    assert "retentionInDays" not in found
