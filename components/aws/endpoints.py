"""AWS's services inside the VPC: S3 always, since that costs nothing; the others where there is no other way out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pulumi
import pulumi_aws as aws

from experiment.plan.money import ENDPOINTS


@dataclass(frozen=True, kw_only=True)
class EndpointsArgs:
    """Which services, and from where they are reached."""

    called: str
    """What the console's names of its parts begin with."""
    region: str
    vpc_id: pulumi.Input[str]
    vpc_cidr: str
    subnet_ids: Sequence[pulumi.Input[str]]
    """Where interfaces are: the nodes' zone is enough, and each further one costs as much again."""
    route_table_id: pulumi.Input[str]
    interfaces: bool
    """Whether there are endpoints besides that of S3."""
    tags: Mapping[str, str]


class Endpoints(pulumi.ComponentResource):
    """A gateway for S3, by which also the layers of images from ECR come, and interfaces for the rest."""

    def __init__(self, name: str, args: EndpointsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("splitbed:index:Endpoints", name, None, opts)
        self._name, self._args = name, args
        aws.ec2.VpcEndpoint(
            f"{name}-s3",
            vpc_id=args.vpc_id,
            service_name=f"com.amazonaws.{args.region}.s3",
            vpc_endpoint_type="Gateway",
            route_table_ids=[args.route_table_id],
            tags={**args.tags, "Name": f"{args.called}-s3"},
            opts=pulumi.ResourceOptions(parent=self),
        )
        if args.interfaces:
            self._interfaces()
        self.register_outputs({})

    def _interfaces(self) -> None:
        args = self._args
        callers = aws.ec2.SecurityGroup(
            f"{self._name}-callers",
            description="TLS from inside the VPC to the endpoints of AWS services",
            vpc_id=args.vpc_id,
            tags={**args.tags, "Name": f"{args.called}-endpoints"},
            opts=pulumi.ResourceOptions(parent=self),
        )
        aws.vpc.SecurityGroupIngressRule(
            f"{self._name}-tls",
            security_group_id=callers.id,
            description="TLS from inside the VPC",
            ip_protocol="tcp",
            from_port=443,
            to_port=443,
            cidr_ipv4=args.vpc_cidr,
            tags=args.tags,
            opts=pulumi.ResourceOptions(parent=self),
        )
        for service in ENDPOINTS:
            aws.ec2.VpcEndpoint(
                f"{self._name}-{service}",
                vpc_id=args.vpc_id,
                service_name=f"com.amazonaws.{args.region}.{service}",
                vpc_endpoint_type="Interface",
                private_dns_enabled=True,
                subnet_ids=args.subnet_ids,
                security_group_ids=[callers.id],
                tags={**args.tags, "Name": f"{args.called}-{service}"},
                opts=pulumi.ResourceOptions(parent=self),
            )
