"""What the pods of one service account may do in AWS, by EKS Pod Identity."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pulumi
import pulumi_aws as aws

from components.aws.role import Role, RoleArgs
from experiment import iam


@dataclass(frozen=True, kw_only=True)
class PodRoleArgs:
    """Whose pods, and what they may do."""

    cluster_name: str
    namespace: str
    service_account: str
    purpose: str
    statements: Sequence[iam.Statement]
    after: Sequence[pulumi.Resource]
    """The cluster."""
    tags: Mapping[str, str]


class PodRole(pulumi.ComponentResource):
    """A role, and its association with a service account, which need not be there yet; pods come after both."""

    def __init__(self, name: str, args: PodRoleArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("splitbed:index:PodRole", name, None, opts)
        role = Role(
            f"{name}-pods",
            RoleArgs(
                description=args.purpose,
                trust=iam.trust(
                    "pods.eks.amazonaws.com",
                    tagged_session=True,
                    StringEquals={
                        "aws:RequestTag/eks-cluster-name": args.cluster_name,
                        "aws:RequestTag/kubernetes-namespace": args.namespace,
                        "aws:RequestTag/kubernetes-service-account": args.service_account,
                    },
                ),
                policy=iam.policy(*args.statements),
                tags=args.tags,
            ),
            pulumi.ResourceOptions(parent=self),
        )
        self.association = aws.eks.PodIdentityAssociation(
            f"{name}-association",
            cluster_name=args.cluster_name,
            namespace=args.namespace,
            service_account=args.service_account,
            role_arn=role.arn,
            tags=args.tags,
            opts=pulumi.ResourceOptions(parent=self, depends_on=[*args.after, role]),
        )
        self.register_outputs({})
