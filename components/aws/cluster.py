"""The EKS cluster: control plane, who may enter, and its log."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pulumi
import pulumi_aws as aws
import pulumi_eks as eks
import pulumi_kubernetes as kubernetes

from components.aws.group_tags import slug
from components.aws.log_group import LogGroup, LogGroupArgs
from experiment import arn
from experiment.cluster import PrivateEndpoint, PublicEndpoint

LOG_TYPES = ("api", "authenticator", "controllerManager", "scheduler")
"""What the control plane logs: who called and what was placed where. Its audit log would cost more than all others."""


@dataclass(frozen=True, kw_only=True)
class ClusterArgs:
    """What to make, where, and who may enter."""

    cluster_name: str
    region: str
    version: str
    vpc_id: pulumi.Input[str]
    subnet_ids: Sequence[pulumi.Input[str]]
    endpoint: PrivateEndpoint | PublicEndpoint
    admins: Sequence[str]
    """ARNs of those who may administer it besides the one that makes it."""
    log_retention_days: int
    tags: Mapping[str, str]


class Cluster(pulumi.ComponentResource):
    """A control plane without nodes and without add-ons, which have pinned versions and an order of their own.

    `control_plane` is what everything inside depends on and goes with; `kubernetes` is the provider that reaches it.
    Its kubeconfig names the cluster alone: whoever runs Pulumi next signs in by their own profile.
    """

    def __init__(self, name: str, args: ClusterArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("splitbed:index:Cluster", name, None, opts)
        self._args = args
        log = LogGroup(
            f"{name}-log",
            LogGroupArgs(
                name=f"/aws/eks/{args.cluster_name}/cluster",
                retention_days=args.log_retention_days,
                tags=args.tags,
            ),
            pulumi.ResourceOptions(parent=self),
        )
        public = isinstance(args.endpoint, PublicEndpoint)
        self.control_plane = eks.Cluster(
            f"{name}-eks",
            name=args.cluster_name,
            version=args.version,
            vpc_id=args.vpc_id,
            private_subnet_ids=args.subnet_ids,
            endpoint_private_access=True,
            endpoint_public_access=public,
            public_access_cidrs=args.endpoint.cidrs if isinstance(args.endpoint, PublicEndpoint) else None,
            authentication_mode=eks.AuthenticationMode.API,
            access_entries=_entries(args),
            enabled_cluster_log_types=LOG_TYPES,
            upgrade_policy=aws.eks.ClusterUpgradePolicyArgs(support_type="STANDARD"),
            skip_default_node_group=True,
            skip_default_security_groups=True,
            create_oidc_provider=False,
            bootstrap_self_managed_addons=False,
            use_default_vpc_cni=True,
            # Left out, the component would write the AWS_PROFILE of whoever runs Pulumi into its own provider.
            provider_credential_opts=eks.KubeconfigOptionsArgs(),
            kube_proxy_addon_options=eks.KubeProxyAddonOptionsArgs(enabled=False),
            coredns_addon_options=eks.CoreDnsAddonOptionsArgs(enabled=False),
            tags=args.tags,
            # EKS would make the log group itself, and then it would be kept for ever.
            opts=pulumi.ResourceOptions(parent=self, depends_on=[log]),
        )
        self._tag_security_group(name)
        self.kubernetes = kubernetes.Provider(
            f"{name}-kubernetes",
            kubeconfig=self.control_plane.kubeconfig_json,
            # Of a cluster that somebody has deleted, the objects are gone too.
            delete_unreachable=True,
            opts=pulumi.ResourceOptions(parent=self, depends_on=[self.control_plane]),
        )
        self.register_outputs({})

    def _tag_security_group(self, name: str) -> None:
        """Tag the security group that EKS makes with the cluster, without the cluster's tags; they go with it."""
        for key, value in self._args.tags.items():
            aws.ec2.Tag(
                f"{name}-security-group-{slug(key)}",
                resource_id=self.control_plane.cluster_security_group_id,
                key=key,
                value=value,
                opts=pulumi.ResourceOptions(parent=self, deleted_with=self.control_plane),
            )


def _entries(args: ClusterArgs) -> dict[str, eks.AccessEntryArgs]:
    administers = eks.AccessPolicyAssociationArgs(
        policy_arn=arn.access_policy(args.region, "AmazonEKSClusterAdminPolicy"),
        access_scope=aws.eks.AccessPolicyAssociationAccessScopeArgs(type="cluster"),
    )
    return {
        _slug(principal): eks.AccessEntryArgs(
            principal_arn=principal, access_policies={"admin": administers}, tags=args.tags
        )
        for principal in dict.fromkeys(args.admins)
    }


def _slug(principal: str) -> str:
    account, _, path = principal.split(":", 4)[4].partition(":")
    return re.sub(r"[^A-Za-z0-9]+", "-", f"{path}-{account}")
