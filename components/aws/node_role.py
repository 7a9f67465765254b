"""What a node may do in AWS: join, pull images, give pods addresses."""

from collections.abc import Mapping
from dataclasses import dataclass

import pulumi

from components.aws.role import Role, RoleArgs
from experiment import arn, iam

_POLICIES = ("AmazonEKSWorkerNodePolicy", "AmazonEC2ContainerRegistryPullOnly", "AmazonEKS_CNI_Policy")


@dataclass(frozen=True, kw_only=True)
class NodeRoleArgs:
    """Of which cluster's nodes."""

    cluster_name: str
    region: str
    tags: Mapping[str, str]


class NodeRole(pulumi.ComponentResource):
    """One role for all nodes. Pods do not get it: its credentials are one network hop away, and pods are two."""

    def __init__(self, name: str, args: NodeRoleArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("splitbed:index:NodeRole", name, None, opts)
        role = Role(
            f"{name}-ec2",
            RoleArgs(
                description=f"Nodes of {args.cluster_name}",
                trust=iam.trust("ec2.amazonaws.com"),
                managed=[arn.managed_policy(args.region, policy) for policy in _POLICIES],
                tags=args.tags,
            ),
            pulumi.ResourceOptions(parent=self),
        )
        self.arn = role.arn
        self.register_outputs({"arn": self.arn})
