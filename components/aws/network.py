"""Where the nodes are: a VPC of the experiment's own, or subnets of one that is there."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pulumi
import pulumi_aws as aws

from components.aws.endpoints import Endpoints, EndpointsArgs
from components.aws.nat import Nat, NatArgs
from experiment import cidr
from experiment.cluster import ExistingNetwork, NewNetwork


@dataclass(frozen=True, kw_only=True)
class NetworkArgs:
    """Which network, in which zones."""

    called: str
    """What the console's names of its parts begin with."""
    region: str
    zones: Sequence[str]
    network: NewNetwork | ExistingNetwork
    tags: Mapping[str, str]


class Network(pulumi.ComponentResource):
    """Private subnets, one for each zone and in the zones' order; of an existing network nothing is made or changed.

    `ways_out` is what nodes need before they can pull their first image.
    """

    def __init__(self, name: str, args: NetworkArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("splitbed:index:Network", name, None, opts)
        self._name, self._args = name, args
        self.vpc_id: pulumi.Input[str]
        self.subnet_ids: Sequence[pulumi.Input[str]]
        self.ways_out: Sequence[pulumi.Resource] = ()
        if isinstance(args.network, ExistingNetwork):
            self.vpc_id, self.subnet_ids = args.network.vpc, args.network.subnets
        else:
            self._make(args.network)
        self.register_outputs({"vpc_id": self.vpc_id, "subnet_ids": self.subnet_ids})

    def _make(self, network: NewNetwork) -> None:
        args = self._args
        division = cidr.divide(network.cidr, args.zones)
        vpc = aws.ec2.Vpc(
            f"{self._name}-vpc",
            cidr_block=network.cidr,
            enable_dns_support=True,
            enable_dns_hostnames=True,  # interface endpoints are found by the services' own names
            tags=self._named("vpc"),
            opts=pulumi.ResourceOptions(parent=self),
        )
        routes = aws.ec2.RouteTable(
            f"{self._name}-private-routes",
            vpc_id=vpc.id,
            tags=self._named("private"),
            opts=pulumi.ResourceOptions(parent=self),
        )
        private = [
            self._private(vpc, routes, zone, block) for zone, block in zip(args.zones, division.private, strict=True)
        ]
        subnets, routed = [subnet for subnet, _ in private], [association for _, association in private]
        endpoints = Endpoints(
            f"{self._name}-endpoints",
            EndpointsArgs(
                called=args.called,
                region=args.region,
                vpc_id=vpc.id,
                vpc_cidr=network.cidr,
                subnet_ids=[subnets[0].id],
                route_table_id=routes.id,
                interfaces=network.egress == "endpoints",
                tags=args.tags,
            ),
            pulumi.ResourceOptions(parent=self),
        )
        self.ways_out = [*routed, endpoints]
        if network.egress == "nat":
            nat = Nat(
                f"{self._name}-nat",
                NatArgs(
                    called=args.called,
                    vpc_id=vpc.id,
                    zone=args.zones[0],
                    cidr=division.public,
                    private_route_table_id=routes.id,
                    tags=args.tags,
                ),
                pulumi.ResourceOptions(parent=self),
            )
            self.ways_out = [*self.ways_out, nat]
        self.vpc_id = vpc.id
        self.subnet_ids = [subnet.id for subnet in subnets]

    def _private(
        self, vpc: aws.ec2.Vpc, routes: aws.ec2.RouteTable, zone: str, block: str
    ) -> tuple[aws.ec2.Subnet, aws.ec2.RouteTableAssociation]:
        """Return a subnet, and what gives it the ways of the private route table."""
        subnet = aws.ec2.Subnet(
            f"{self._name}-private-{zone}",
            vpc_id=vpc.id,
            availability_zone=zone,
            cidr_block=block,
            map_public_ip_on_launch=False,
            tags=self._named(f"private-{zone}"),
            opts=pulumi.ResourceOptions(parent=self),
        )
        association = aws.ec2.RouteTableAssociation(
            f"{self._name}-private-{zone}-routes",
            subnet_id=subnet.id,
            route_table_id=routes.id,
            opts=pulumi.ResourceOptions(parent=self),
        )
        return subnet, association

    def _named(self, what: str) -> dict[str, str]:
        """Tags with the Name that AWS's console shows."""
        return {**self._args.tags, "Name": f"{self._args.called}-{what}"}
