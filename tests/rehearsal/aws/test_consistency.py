"""What AWS tells late and what it does not let go: seen by the provider's double, and by whoever looks with boto3."""

from typing import Any

import pytest
from botocore.exceptions import ClientError

from cloud.account import Account
from cloud.kinds.roles import ROLE
from cloud.kinds.storage import QUEUE
from rehearsal.aws.services import RefusedError
from rehearsal.aws.world import World
from tests.rehearsal.aws import made
from tests.rehearsal.aws.driver import Driver

pytestmark = pytest.mark.thorough


def client(account: World, service: str) -> Any:
    return account.services.client(service)


def test_a_new_role_is_not_found_for_a_moment(account: World) -> None:
    iam = client(account, "iam")
    account.front.consistency.unread = 2
    iam.create_role(RoleName="new", AssumeRolePolicyDocument=made.TRUST)
    for _ in range(2):
        with pytest.raises(ClientError, match="NoSuchEntity"):
            iam.get_role(RoleName="new")
    assert iam.get_role(RoleName="new")["Role"]["RoleName"] == "new"


@pytest.mark.parametrize(("unread", "unused"), [(0, 0), (3, 3)])
def test_the_provider_waits_until_a_role_is_known(account: World, aws: Driver, unread: int, unused: int) -> None:
    account.front.consistency.unread, account.front.consistency.unused = unread, unused
    made.cluster(aws)
    assert account.services.ask("eks", "ListClusters")["clusters"] == ["exp-some"]


def test_a_service_refuses_a_role_that_it_does_not_know_yet(account: World) -> None:
    account.front.consistency.unused = 1
    arn = client(account, "iam").create_role(RoleName="new", AssumeRolePolicyDocument=made.TRUST)["Role"]["Arn"]
    target = {"Arn": "arn:aws:scheduler:::aws-sdk:eks:updateNodegroupConfig", "RoleArn": arn, "Input": "{}"}
    asked = {
        "Name": "end",
        "ScheduleExpression": "at(2100-01-01T00:00:00)",
        "FlexibleTimeWindow": {"Mode": "OFF"},
        "Target": target,
    }
    with pytest.raises(RefusedError, match="must allow AWS EventBridge Scheduler to assume"):
        account.services.ask("scheduler", "CreateSchedule", **asked)
    account.services.ask("scheduler", "CreateSchedule", **asked)


def test_who_looks_around_is_not_stopped_by_what_is_not_there_yet_or_no_more(
    account: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in account.environment().items():
        monkeypatch.setenv(name, value)
    account.front.consistency.unread = 1
    seen = Account()
    iam = client(account, "iam")
    iam.create_role(RoleName="new", AssumeRolePolicyDocument=made.TRUST, Tags=[{"Key": "a", "Value": "b"}])
    assert "new" not in {thing.id for thing in ROLE.find(seen, "us-east-1", ())}
    assert "new" in {thing.id for thing in ROLE.find(seen, "us-east-1", ())}

    sqs = client(account, "sqs")
    url = sqs.create_queue(QueueName="gone")["QueueUrl"]
    listed = [url]
    sqs.delete_queue(QueueUrl=url)
    monkeypatch.setattr(seen, "pages", lambda *_, **__: listed)  # SQS lists what it deleted for up to a minute
    assert list(QUEUE.find(seen, "us-east-1", ())) == []


def dependent(account: World, what: str, about: dict[str, str]) -> None:
    """Put something into the way of a deletion, behind the provider's back."""
    ec2 = client(account, "ec2")
    match what:
        case "an interface in a subnet":
            ec2.create_network_interface(SubnetId=about["subnet"])
        case "an interface of a group":
            ec2.create_network_interface(SubnetId=about["subnet"], Groups=[about["group"]])
        case "a rule of another group":
            other = ec2.create_security_group(GroupName="other", Description="d", VpcId=about["vpc"])["GroupId"]
            pair = {"GroupId": about["group"]}
            ec2.authorize_security_group_ingress(
                GroupId=other, IpPermissions=[{"IpProtocol": "-1", "UserIdGroupPairs": [pair]}]
            )
        case "a group in a network":
            ec2.create_security_group(GroupName="left", Description="d", VpcId=about["vpc"])
        case "a way out of a network":
            gateway = ec2.create_internet_gateway()["InternetGateway"]["InternetGatewayId"]
            ec2.attach_internet_gateway(InternetGatewayId=gateway, VpcId=about["vpc"])


@pytest.mark.parametrize(
    ("what", "goes"),
    [
        ("an interface in a subnet", "subnet"),
        ("an interface of a group", "group"),
        ("a rule of another group", "group"),
        ("a group in a network", "vpc"),
        ("a way out of a network", "vpc"),
    ],
)
def test_what_something_depends_on_stays_whoever_asks(account: World, what: str, goes: str) -> None:
    ec2 = client(account, "ec2")
    vpc = ec2.create_vpc(CidrBlock="10.42.0.0/16")["Vpc"]["VpcId"]
    subnet = ec2.create_subnet(VpcId=vpc, CidrBlock="10.42.0.0/20")["Subnet"]["SubnetId"]
    group = ec2.create_security_group(GroupName="some", Description="d", VpcId=vpc)["GroupId"]
    about = {"vpc": vpc, "subnet": subnet, "group": group}
    delete = {
        "vpc": lambda: ec2.delete_vpc(VpcId=vpc),
        "subnet": lambda: ec2.delete_subnet(SubnetId=subnet),
        "group": lambda: ec2.delete_security_group(GroupId=group),
    }
    dependent(account, what, about)
    if goes == "vpc":
        delete["group"]()
        delete["subnet"]()
    with pytest.raises(ClientError, match="DependencyViolation"):
        delete[goes]()
