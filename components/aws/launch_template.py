"""How instances are started: their disk, their metadata service, their place, and the tags that they are born with."""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pulumi
import pulumi_aws as aws

ROOT_DEVICE = "/dev/xvda"
"""The root volume of Amazon Linux 2023."""


@dataclass(frozen=True, kw_only=True)
class LaunchTemplateArgs:
    """What the instances of one group have in common."""

    disk_gib: int
    user_data: str
    reservation: str | None
    placement_group: pulumi.Input[str] | None
    efa_security_group: pulumi.Input[str] | None
    """The security group of EFA interfaces; none without EFA, and then EKS gives each instance the cluster's own."""
    tags: Mapping[str, str]


class LaunchTemplate(pulumi.ComponentResource):
    """One template for the whole life of a node group.

    It names no image, no instance type and no security group: those are EKS's to fill in, which refuses or misuses
    them here. The tags that instances and volumes are born with are frozen: another version of the template would
    replace every node, only because a date was moved. What lives is tagged anew by `splitbed extend`.
    """

    def __init__(self, name: str, args: LaunchTemplateArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("splitbed:index:LaunchTemplate", name, None, opts)
        disk = aws.ec2.LaunchTemplateBlockDeviceMappingEbsArgs(
            volume_size=args.disk_gib, volume_type="gp3", encrypted="true", delete_on_termination="true"
        )
        template = aws.ec2.LaunchTemplate(
            f"{name}-template",
            block_device_mappings=[
                aws.ec2.LaunchTemplateBlockDeviceMappingArgs(device_name=ROOT_DEVICE, ebs=disk),
            ],
            metadata_options=aws.ec2.LaunchTemplateMetadataOptionsArgs(
                http_endpoint="enabled", http_tokens="required", http_put_response_hop_limit=1
            ),
            capacity_reservation_specification=_reservation(args.reservation),
            placement=_placement(args.placement_group),
            network_interfaces=_interfaces(args.efa_security_group),
            user_data=base64.b64encode(args.user_data.encode()).decode() if args.user_data else None,
            tag_specifications=[
                aws.ec2.LaunchTemplateTagSpecificationArgs(resource_type=kind, tags=args.tags)
                for kind in ("instance", "volume")
            ],
            tags=args.tags,
            opts=pulumi.ResourceOptions(parent=self, ignore_changes=["tagSpecifications"]),
        )
        self.id: pulumi.Output[str] = template.id
        self.version: pulumi.Output[str] = template.latest_version.apply(str)
        self.register_outputs({"id": self.id, "version": self.version})


def _reservation(reservation: str | None) -> aws.ec2.LaunchTemplateCapacityReservationSpecificationArgs | None:
    if reservation is None:
        return None
    target = aws.ec2.LaunchTemplateCapacityReservationSpecificationCapacityReservationTargetArgs(
        capacity_reservation_id=reservation
    )
    return aws.ec2.LaunchTemplateCapacityReservationSpecificationArgs(capacity_reservation_target=target)


def _placement(group: pulumi.Input[str] | None) -> aws.ec2.LaunchTemplatePlacementArgs | None:
    return None if group is None else aws.ec2.LaunchTemplatePlacementArgs(group_name=group)


def _interfaces(
    security_group: pulumi.Input[str] | None,
) -> Sequence[aws.ec2.LaunchTemplateNetworkInterfaceArgs] | None:
    if security_group is None:
        return None
    return [
        aws.ec2.LaunchTemplateNetworkInterfaceArgs(
            device_index=0,
            network_card_index=0,
            interface_type="efa",
            security_groups=[security_group],
            delete_on_termination="true",
        )
    ]
