"""What a network is made of, and what hangs on it."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from cloud.account import Account
from cloud.kinds.kind import Delete, Kind
from cloud.thing import Thing, tag_map


def _listed(kind: str, operation: str, key: str, name: str, gone: Callable[[dict[str, Any]], bool]) -> Any:
    def find(account: Account, region: str, _: Sequence[Thing]) -> Iterator[Thing]:
        for one in account.pages("ec2", region, operation, key):
            if not gone(one):
                yield Thing(kind, one[name], region, tag_map(one.get("Tags")))

    return find


def _simple(kind: str, operation: str, key: str, name: str, delete: Delete) -> Kind:
    return Kind(kind, _listed(kind, operation, key, name, _gone), delete)


def _gone(one: dict[str, Any]) -> bool:
    return one.get("State") in ("deleted", "deleting")


def _ec2(operation: str, argument: str, *, several: bool = False) -> Delete:
    def delete(account: Account, thing: Thing) -> object:
        return getattr(account.client("ec2", thing.region), operation)(
            **{argument: [thing.id] if several else thing.id}
        )

    return delete


def _delete_internet_gateway(account: Account, thing: Thing) -> None:
    ec2 = account.client("ec2", thing.region)
    for one in ec2.describe_internet_gateways(InternetGatewayIds=[thing.id])["InternetGateways"]:
        for attachment in one.get("Attachments", []):
            ec2.detach_internet_gateway(InternetGatewayId=thing.id, VpcId=attachment["VpcId"])
    ec2.delete_internet_gateway(InternetGatewayId=thing.id)


def _delete_route_table(account: Account, thing: Thing) -> None:
    ec2 = account.client("ec2", thing.region)
    for one in ec2.describe_route_tables(RouteTableIds=[thing.id])["RouteTables"]:
        for association in one.get("Associations", []):
            if not association.get("Main"):
                ec2.disassociate_route_table(AssociationId=association["RouteTableAssociationId"])
    ec2.delete_route_table(RouteTableId=thing.id)


def _delete_security_group(account: Account, thing: Thing) -> None:
    """Take the rules first: two groups that name each other could neither of them go."""
    ec2 = account.client("ec2", thing.region)
    of_group = [{"Name": "group-id", "Values": [thing.id]}]
    rules = ec2.describe_security_group_rules(Filters=of_group)["SecurityGroupRules"]
    for outwards, revoke in ((False, ec2.revoke_security_group_ingress), (True, ec2.revoke_security_group_egress)):
        if ids := [rule["SecurityGroupRuleId"] for rule in rules if rule["IsEgress"] == outwards]:
            revoke(GroupId=thing.id, SecurityGroupRuleIds=ids)
    ec2.delete_security_group(GroupId=thing.id)


def _load_balancers(account: Account, region: str, _: Sequence[Thing]) -> Iterator[Thing]:
    arns = [
        one["LoadBalancerArn"] for one in account.pages("elbv2", region, "describe_load_balancers", "LoadBalancers")
    ]
    # The service tells the tags of twenty at a time.
    for first in range(0, len(arns), 20):
        said = account.ask("elbv2", region, "describe_tags", ResourceArns=arns[first : first + 20])
        for one in said["TagDescriptions"]:
            yield Thing("load balancer", one["ResourceArn"], region, tag_map(one["Tags"]))


def _classic_load_balancers(account: Account, region: str, _: Sequence[Thing]) -> Iterator[Thing]:
    listed = account.pages("elb", region, "describe_load_balancers", "LoadBalancerDescriptions")
    names = [one["LoadBalancerName"] for one in listed]
    for first in range(0, len(names), 20):
        said = account.ask("elb", region, "describe_tags", LoadBalancerNames=names[first : first + 20])
        for one in said["TagDescriptions"]:
            yield Thing("classic load balancer", one["LoadBalancerName"], region, tag_map(one["Tags"]))


LOAD_BALANCER = Kind(
    "load balancer",
    _load_balancers,
    lambda account, thing: account.client("elbv2", thing.region).delete_load_balancer(LoadBalancerArn=thing.id),
)
CLASSIC_LOAD_BALANCER = Kind(
    "classic load balancer",
    _classic_load_balancers,
    lambda account, thing: account.client("elb", thing.region).delete_load_balancer(LoadBalancerName=thing.id),
)
ENDPOINT = _simple(
    "endpoint",
    "describe_vpc_endpoints",
    "VpcEndpoints",
    "VpcEndpointId",
    _ec2("delete_vpc_endpoints", "VpcEndpointIds", several=True),
)
NAT_GATEWAY = _simple(
    "NAT gateway",
    "describe_nat_gateways",
    "NatGateways",
    "NatGatewayId",
    _ec2("delete_nat_gateway", "NatGatewayId"),
)
ADDRESS = _simple(
    "public address", "describe_addresses", "Addresses", "AllocationId", _ec2("release_address", "AllocationId")
)
SECURITY_GROUP = _simple(
    "security group", "describe_security_groups", "SecurityGroups", "GroupId", _delete_security_group
)
SUBNET = _simple("subnet", "describe_subnets", "Subnets", "SubnetId", _ec2("delete_subnet", "SubnetId"))
ROUTE_TABLE = _simple("route table", "describe_route_tables", "RouteTables", "RouteTableId", _delete_route_table)
INTERNET_GATEWAY = _simple(
    "internet gateway",
    "describe_internet_gateways",
    "InternetGateways",
    "InternetGatewayId",
    _delete_internet_gateway,
)
VPC = _simple("VPC", "describe_vpcs", "Vpcs", "VpcId", _ec2("delete_vpc", "VpcId"))
