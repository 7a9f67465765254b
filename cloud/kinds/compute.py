"""Instances and what goes with them."""

from collections.abc import Iterator, Sequence

from cloud.account import Account
from cloud.kinds.kind import Kind
from cloud.thing import Thing, tag_map


def _instances(account: Account, region: str, _: Sequence[Thing]) -> Iterator[Thing]:
    alive = {"Name": "instance-state-name", "Values": ["pending", "running", "stopping", "stopped"]}
    for reservation in account.pages("ec2", region, "describe_instances", "Reservations", Filters=[alive]):
        for one in reservation["Instances"]:
            yield Thing("instance", one["InstanceId"], region, tag_map(one.get("Tags")))


def _volumes(account: Account, region: str, _: Sequence[Thing]) -> Iterator[Thing]:
    for one in account.pages("ec2", region, "describe_volumes", "Volumes"):
        attached = one.get("Attachments") or [{}]
        yield Thing(
            "volume", one["VolumeId"], region, tag_map(one.get("Tags")), parent=attached[0].get("InstanceId", "")
        )


def _interfaces(account: Account, region: str, _: Sequence[Thing]) -> Iterator[Thing]:
    for one in account.pages("ec2", region, "describe_network_interfaces", "NetworkInterfaces"):
        if one.get("RequesterManaged"):
            continue  # of a gateway, an endpoint or a control plane: it has no tags of its own, and goes with that
        parent = one.get("Attachment", {}).get("InstanceId", "")
        yield Thing("network interface", one["NetworkInterfaceId"], region, tag_map(one.get("TagSet")), parent=parent)


def _delete_interface(account: Account, thing: Thing) -> None:
    ec2 = account.client("ec2", thing.region)
    found = ec2.describe_network_interfaces(NetworkInterfaceIds=[thing.id])["NetworkInterfaces"]
    attachment = found[0].get("Attachment", {}).get("AttachmentId") if found else None
    if attachment:
        ec2.detach_network_interface(AttachmentId=attachment, Force=True)
    ec2.delete_network_interface(NetworkInterfaceId=thing.id)


def _templates(account: Account, region: str, _: Sequence[Thing]) -> Iterator[Thing]:
    for one in account.pages("ec2", region, "describe_launch_templates", "LaunchTemplates"):
        yield Thing("launch template", one["LaunchTemplateId"], region, tag_map(one.get("Tags")))


def _placement_groups(account: Account, region: str, _: Sequence[Thing]) -> Iterator[Thing]:
    for one in account.pages("ec2", region, "describe_placement_groups", "PlacementGroups"):
        yield Thing("placement group", one["GroupName"], region, tag_map(one.get("Tags")))


def _scaling_groups(account: Account, region: str, _: Sequence[Thing]) -> Iterator[Thing]:
    for one in account.pages("autoscaling", region, "describe_auto_scaling_groups", "AutoScalingGroups"):
        yield Thing("auto scaling group", one["AutoScalingGroupName"], region, tag_map(one.get("Tags")))


INSTANCE = Kind(
    "instance",
    _instances,
    lambda account, thing: account.client("ec2", thing.region).terminate_instances(InstanceIds=[thing.id]),
    fixable=True,
)
VOLUME = Kind(
    "volume",
    _volumes,
    lambda account, thing: account.client("ec2", thing.region).delete_volume(VolumeId=thing.id),
    fixable=True,
)
INTERFACE = Kind("network interface", _interfaces, _delete_interface, fixable=True)
TEMPLATE = Kind(
    "launch template",
    _templates,
    lambda account, thing: account.client("ec2", thing.region).delete_launch_template(LaunchTemplateId=thing.id),
)
PLACEMENT_GROUP = Kind(
    "placement group",
    _placement_groups,
    lambda account, thing: account.client("ec2", thing.region).delete_placement_group(GroupName=thing.id),
)
SCALING_GROUP = Kind(
    "auto scaling group",
    _scaling_groups,
    lambda account, thing: account.client("autoscaling", thing.region).delete_auto_scaling_group(
        AutoScalingGroupName=thing.id, ForceDelete=True
    ),
    fixable=True,
)
