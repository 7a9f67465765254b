"""What AWS does not let go while something depends on it, and moto does."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from moto.backends import get_backend

from rehearsal.aws.requests import ACCOUNT
from rehearsal.aws.services import Services

_GONE = ("deleted", "deleting", "terminated", "shutting-down")
Form = Mapping[str, str]


def refusal(services: Services, form: Form) -> str | None:
    """Return how EC2 refuses to delete or detach what something depends on; None if nothing does, or it is not asked.

    Args:
        services: of the account.
        form: a request of EC2's query API.
    """
    known = _ASKED.get(form.get("Action", ""))
    if known is None:
        return None
    argument, dependents, words = known
    about = form.get(argument, "")
    found = sorted(dependents(services, about))
    return words.format(about=about, found=", ".join(found)) if found else None


def _of_subnet(services: Services, subnet: str) -> Iterator[str]:
    here = [{"Name": "subnet-id", "Values": [subnet]}]
    for reservation in services.ask("ec2", "DescribeInstances", Filters=here)["Reservations"]:
        yield from (one["InstanceId"] for one in reservation["Instances"] if one["State"]["Name"] not in _GONE)
    for one in services.ask("ec2", "DescribeNatGateways", Filter=here)["NatGateways"]:
        if one["State"] not in _GONE:
            yield one["NatGatewayId"]
    for one in services.ask("ec2", "DescribeVpcEndpoints")["VpcEndpoints"]:
        if subnet in one.get("SubnetIds", []) and one["State"].lower() not in _GONE:
            yield one["VpcEndpointId"]
    for name in services.ask("eks", "ListClusters")["clusters"]:
        config = services.ask("eks", "DescribeCluster", name=name)["cluster"]["resourcesVpcConfig"]
        if subnet in config["subnetIds"]:
            yield f"cluster {name}"
    yield from (one["NetworkInterfaceId"] for one in _interfaces(services, here))


def _of_group(services: Services, group: str) -> Iterator[str]:
    used = _interfaces(services, [{"Name": "group-id", "Values": [group]}])
    yield from (one["NetworkInterfaceId"] for one in used)
    for one in services.ask("ec2", "DescribeSecurityGroups")["SecurityGroups"]:
        rules = [*one["IpPermissions"], *one["IpPermissionsEgress"]]
        named = {pair.get("GroupId") for rule in rules for pair in rule.get("UserIdGroupPairs", [])}
        if group in named and one["GroupId"] != group:
            yield one["GroupId"]


def _of_vpc(services: Services, vpc: str) -> Iterator[str]:
    """Yield what moto overlooks: it knows of subnets, route tables and VPN gateways."""
    here = [{"Name": "vpc-id", "Values": [vpc]}]
    for one in services.ask("ec2", "DescribeSecurityGroups", Filters=here)["SecurityGroups"]:
        if one["GroupName"] != "default" and not one["GroupName"].startswith("default_elb_"):  # moto's own
            yield one["GroupId"]
    attached = [{"Name": "attachment.vpc-id", "Values": [vpc]}]
    for one in services.ask("ec2", "DescribeInternetGateways", Filters=attached)["InternetGateways"]:
        yield one["InternetGatewayId"]


def _of_way_out(services: Services, gateway: str) -> Iterator[str]:
    found = services.ask("ec2", "DescribeInternetGateways", InternetGatewayIds=[gateway])["InternetGateways"]
    for vpc in (attachment["VpcId"] for one in found for attachment in one["Attachments"]):
        here = [{"Name": "vpc-id", "Values": [vpc]}]
        for one in services.ask("ec2", "DescribeNatGateways", Filter=here)["NatGateways"]:
            if one["State"] not in _GONE and services.ask("ec2", "DescribeAddresses")["Addresses"]:
                yield one["NatGatewayId"]


def _interfaces(services: Services, filters: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the interfaces that stand in the way: those of gateways and of instances moto keeps when they are gone."""
    backend: Any = get_backend("ec2")[ACCOUNT][services.region]
    of_gateways = {one._eni.id for one in list(backend.nat_gateways.values())}
    ended = {one.id for one in backend.all_instances() if one.state in _GONE}
    found = services.ask("ec2", "DescribeNetworkInterfaces", Filters=filters)["NetworkInterfaces"]
    return [
        one
        for one in found
        if one["NetworkInterfaceId"] not in of_gateways and one.get("Attachment", {}).get("InstanceId") not in ended
    ]


_ASKED: dict[str, tuple[str, Callable[[Services, str], Iterator[str]], str]] = {
    "DeleteSubnet": (
        "SubnetId", _of_subnet, "The subnet '{about}' has dependencies and cannot be deleted: {found}"
    ),
    "DeleteSecurityGroup": ("GroupId", _of_group, "resource {about} has a dependent object: {found}"),
    "DeleteVpc": ("VpcId", _of_vpc, "The vpc '{about}' has dependencies and cannot be deleted: {found}"),
    "DetachInternetGateway": (
        "InternetGatewayId", _of_way_out, "Network has some mapped public address(es), of {found}"
    ),
}  # fmt: skip
