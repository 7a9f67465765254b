"""A role that a service of AWS takes, with what it may do."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pulumi
import pulumi_aws as aws

from experiment.iam import Document


@dataclass(frozen=True, kw_only=True)
class RoleArgs:
    """Who takes it, and what it may do."""

    description: str
    trust: Document
    managed: Sequence[str] = ()
    """ARNs of policies that AWS keeps."""
    policy: Document | None = None
    """A policy of its own; its values may be outputs."""
    tags: Mapping[str, str]


class Role(pulumi.ComponentResource):
    """A role and its policies; whoever needs the role as a whole depends on this component."""

    def __init__(self, name: str, args: RoleArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("splitbed:index:Role", name, None, opts)
        role = aws.iam.Role(
            f"{name}-role",
            description=args.description,
            assume_role_policy=pulumi.Output.json_dumps(args.trust),
            tags=args.tags,
            opts=pulumi.ResourceOptions(parent=self),
        )
        for arn in args.managed:
            aws.iam.RolePolicyAttachment(
                f"{name}-{arn.rpartition('/')[2]}",
                role=role.name,
                policy_arn=arn,
                opts=pulumi.ResourceOptions(parent=self),
            )
        if args.policy is not None:
            aws.iam.RolePolicy(
                f"{name}-policy",
                role=role.name,
                policy=pulumi.Output.json_dumps(args.policy),
                opts=pulumi.ResourceOptions(parent=self),
            )
        self.arn: pulumi.Output[str] = role.arn
        self.register_outputs({"arn": self.arn})
