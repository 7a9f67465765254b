"""The way to the internet for nodes without public addresses."""

from collections.abc import Mapping
from dataclasses import dataclass

import pulumi
import pulumi_aws as aws


@dataclass(frozen=True, kw_only=True)
class NatArgs:
    """Where the gateway is, and whose way out it is."""

    called: str
    """What the console's names of its parts begin with."""
    vpc_id: pulumi.Input[str]
    zone: str
    cidr: str
    """Range of the gateway's own subnet."""
    private_route_table_id: pulumi.Input[str]
    tags: Mapping[str, str]


class Nat(pulumi.ComponentResource):
    """One gateway, in the zone of the nodes: an experiment needs no second one, and pays for none."""

    def __init__(self, name: str, args: NatArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("splitbed:index:Nat", name, None, opts)
        child = pulumi.ResourceOptions(parent=self)
        tags = {**args.tags, "Name": f"{args.called}-nat"}
        internet = aws.ec2.InternetGateway(f"{name}-internet", vpc_id=args.vpc_id, tags=tags, opts=child)
        subnet = aws.ec2.Subnet(
            f"{name}-public",
            vpc_id=args.vpc_id,
            availability_zone=args.zone,
            cidr_block=args.cidr,
            map_public_ip_on_launch=False,
            tags=tags,
            opts=child,
        )
        routes = aws.ec2.RouteTable(f"{name}-public-routes", vpc_id=args.vpc_id, tags=tags, opts=child)
        outwards = aws.ec2.Route(
            f"{name}-public-route",
            route_table_id=routes.id,
            destination_cidr_block="0.0.0.0/0",
            gateway_id=internet.id,
            opts=child,
        )
        aws.ec2.RouteTableAssociation(
            f"{name}-public-association", subnet_id=subnet.id, route_table_id=routes.id, opts=child
        )
        address = aws.ec2.Eip(f"{name}-address", domain="vpc", tags=tags, opts=child)
        gateway = aws.ec2.NatGateway(
            f"{name}-gateway",
            subnet_id=subnet.id,
            allocation_id=address.allocation_id,
            connectivity_type="public",
            tags=tags,
            # A gateway without a way out fails, and its address cannot be given back while the way is there.
            opts=pulumi.ResourceOptions(parent=self, depends_on=[internet, outwards]),
        )
        aws.ec2.Route(
            f"{name}-private-route",
            route_table_id=args.private_route_table_id,
            destination_cidr_block="0.0.0.0/0",
            nat_gateway_id=gateway.id,
            opts=child,
        )
        self.register_outputs({})
