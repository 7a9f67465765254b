"""One group of equal nodes, managed by EKS."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pulumi
import pulumi_aws as aws

from components.aws.group_tags import GroupTags, GroupTagsArgs
from components.aws.launch_template import LaunchTemplate, LaunchTemplateArgs
from experiment import health, labels, machines
from experiment.nodes import GPU_TOLERATION, Architecture, GroupName, InstanceGroup

_CAPACITY = {"on-demand": "ON_DEMAND", "spot": "SPOT", "reservation": "ON_DEMAND"}
_HALF_MADE = "CREATE_FAILED"
_EFFECTS = {"NoSchedule": "NO_SCHEDULE", "NoExecute": "NO_EXECUTE", "PreferNoSchedule": "PREFER_NO_SCHEDULE"}


@dataclass(frozen=True, kw_only=True)
class NodeGroupArgs:
    """Which nodes, of which cluster, where."""

    group_name: GroupName
    group: InstanceGroup
    architecture: Architecture
    gpus: int
    """GPUs of one node."""
    cluster_name: str
    version: str
    """Of Kubernetes."""
    release: str | None
    """Release of the node image. None, which only a preview gets to see, is the newest on the day."""
    role_arn: pulumi.Input[str]
    subnet_ids: Sequence[pulumi.Input[str]]
    user_data: str
    efa_security_group: pulumi.Input[str] | None
    after: Sequence[pulumi.Resource]
    """What must be there before the first node, and goes after the last: network, role, and what ends the nodes."""
    tags: Mapping[str, str]


class NodeGroup(pulumi.ComponentResource):
    """A managed node group with a launch template of its own.

    `aws.eks.NodeGroup` and not pulumi-eks's component over it: that one knows no `update_config`, and depends on the
    add-ons only as a whole, so that nothing would keep the network there until the last node has gone.
    """

    def __init__(self, name: str, args: NodeGroupArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("splitbed:index:NodeGroup", name, None, opts)
        template = LaunchTemplate(
            f"{name}-launch",
            LaunchTemplateArgs(
                disk_gib=args.group.disk_gib,
                user_data=args.user_data,
                reservation=args.group.reservation,
                placement_group=self._placement_group(name, args),
                efa_security_group=args.efa_security_group if args.group.efa else None,
                tags=args.tags,
            ),
            pulumi.ResourceOptions(parent=self),
        )
        self.node_group = aws.eks.NodeGroup(
            f"{name}-nodes",
            node_group_name=args.group_name,
            cluster_name=args.cluster_name,
            node_role_arn=args.role_arn,
            subnet_ids=args.subnet_ids,
            scaling_config=aws.eks.NodeGroupScalingConfigArgs(
                min_size=0, max_size=args.group.count, desired_size=args.group.count
            ),
            instance_types=[args.group.instance],
            capacity_type=_CAPACITY[args.group.purchase],
            ami_type=machines.ami_type(args.architecture, args.gpus),
            version=args.version,
            release_version=args.release,
            launch_template=aws.eks.NodeGroupLaunchTemplateArgs(id=template.id, version=template.version),
            labels={labels.GROUP: args.group_name},
            taints=_taints(args.gpus),
            # A change of the nodes is one step, not one node after the other, and no pod can hold it up.
            update_config=aws.eks.NodeGroupUpdateConfigArgs(max_unavailable_percentage=100),
            force_update_version=True,
            tags=args.tags,
            opts=pulumi.ResourceOptions(
                parent=self,
                depends_on=list(args.after),
                # The name is fixed, as what ends the nodes must know it before they are there.
                delete_before_replace=True,
                custom_timeouts=pulumi.CustomTimeouts(create="40m", update="40m", delete="40m"),
                hooks=pulumi.ResourceHookBinding(on_error=[pulumi.ErrorHook(f"{name}-failed", tell)]),
            ),
        )
        group = self.node_group.resources[0]["autoscaling_groups"][0]["name"]
        GroupTags(
            f"{name}-tags",
            GroupTagsArgs(group_name=group, nodes=self.node_group, tags=args.tags),
            pulumi.ResourceOptions(parent=self),
        )
        self.register_outputs({})

    def _placement_group(self, name: str, args: NodeGroupArgs) -> pulumi.Output[str] | None:
        if not args.group.placement_group:
            return None
        group = aws.ec2.PlacementGroup(
            f"{name}-placement",
            strategy="cluster",
            tags=args.tags,
            opts=pulumi.ResourceOptions(parent=self),
        )
        return group.name


def tell(failure: pulumi.ErrorHookArgs) -> bool:
    """Say what the provider's error about a group comes to, and how it is made anew; never ask for another try."""
    said = failure.errors[0] if failure.errors else ""
    why, half_made = health.cause(said), _HALF_MADE in said
    sentences = [f"{why.said}. {why.remedy} puts that right."] if why else []
    if half_made:
        # It is in the state, and Pulumi would take it for good: it can only be replaced.
        sentences.append(
            f"The group is there, without all its nodes. Then make it anew: pulumi up --replace '{failure.urn}'"
        )
    if sentences:
        pulumi.log.error(f"{failure.name}: {' '.join(sentences)}")
    return False


def _taints(gpus: int) -> Sequence[aws.eks.NodeGroupTaintArgs] | None:
    if not gpus:
        return None
    taint = GPU_TOLERATION
    return [aws.eks.NodeGroupTaintArgs(key=taint.key, value=taint.value, effect=_EFFECTS[taint.effect])]
