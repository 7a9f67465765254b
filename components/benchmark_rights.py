"""What the benchmark's client may do in its cluster: look at pods, nodes and events; kill a pod, if it is to."""

from dataclasses import dataclass

import pulumi
from pulumi_kubernetes.meta.v1 import ObjectMetaArgs
from pulumi_kubernetes.rbac.v1 import (
    ClusterRole,
    ClusterRoleBinding,
    PolicyRuleArgs,
    Role,
    RoleBinding,
    RoleRefArgs,
    SubjectArgs,
)

from components import labels
from experiment import names

_LOOK = ("get", "list")
_GROUP = "rbac.authorization.k8s.io"


@dataclass(frozen=True, kw_only=True)
class BenchmarkRightsArgs:
    """Whose rights, and whether it kills."""

    experiment: str
    namespace: pulumi.Input[str]
    service_account: pulumi.Input[str]
    kills: bool
    """Whether the plan has the loss test."""


class BenchmarkRights(pulumi.ComponentResource):
    """A Role in the experiment's namespace, and a ClusterRole for what has none: nodes, and events about them.

    Attributes:
        bindings: by which the account has its rights.
    """

    def __init__(self, name: str, args: BenchmarkRightsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("splitbed:index:BenchmarkRights", name, None, opts)
        child = pulumi.ResourceOptions(parent=self)
        own = labels.of(args.experiment, "benchmark")
        inside = ObjectMetaArgs(name="benchmark", namespace=args.namespace, labels=own)
        outside = ObjectMetaArgs(name=names.benchmark_role_name(args.experiment), labels=own)
        subjects = [SubjectArgs(kind="ServiceAccount", name=args.service_account, namespace=args.namespace)]
        verbs = [*_LOOK, *(["delete"] if args.kills else [])]
        role = Role(
            f"{name}-role",
            metadata=inside,
            rules=[PolicyRuleArgs(api_groups=[""], resources=["pods"], verbs=verbs)],
            opts=child,
        )
        nodes = ClusterRole(
            f"{name}-cluster-role",
            metadata=outside,
            rules=[PolicyRuleArgs(api_groups=[""], resources=["nodes", "events"], verbs=list(_LOOK))],
            opts=child,
        )
        self.bindings: list[pulumi.Resource] = [
            RoleBinding(
                f"{name}-role-binding",
                metadata=inside,
                role_ref=RoleRefArgs(api_group=_GROUP, kind="Role", name=role.metadata.name),
                subjects=subjects,
                opts=child,
            ),
            ClusterRoleBinding(
                f"{name}-cluster-role-binding",
                metadata=outside,
                role_ref=RoleRefArgs(api_group=_GROUP, kind="ClusterRole", name=nodes.metadata.name),
                subjects=subjects,
                opts=child,
            ),
        ]
        self.register_outputs({})
