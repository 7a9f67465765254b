"""Tags of the Auto Scaling group that EKS makes: its later instances are born with them, whatever the template says."""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass

import pulumi
import pulumi_aws as aws


@dataclass(frozen=True, kw_only=True)
class GroupTagsArgs:
    """Of which Auto Scaling group."""

    group_name: pulumi.Input[str]
    nodes: pulumi.Resource
    """The node group that it belongs to, and goes with."""
    tags: Mapping[str, str]


class GroupTags(pulumi.ComponentResource):
    """One resource a tag, so that a moved end date is one change in place.

    They go with their group: of one that somebody has deleted there is nothing to untag, which AWS calls an error.
    """

    def __init__(self, name: str, args: GroupTagsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("splitbed:index:GroupTags", name, None, opts)
        for key, value in args.tags.items():
            aws.autoscaling.Tag(
                f"{name}-{slug(key)}",
                autoscaling_group_name=args.group_name,
                tag=aws.autoscaling.TagTagArgs(key=key, value=value, propagate_at_launch=True),
                opts=pulumi.ResourceOptions(parent=self, deleted_with=args.nodes),
            )
        self.register_outputs({})


def slug(key: str) -> str:
    """Return a key as part of a resource's name: two keys may differ by a sign or by case alone."""
    plain = re.sub(r"[^A-Za-z0-9]+", "-", key).strip("-")
    return plain if plain == key else f"{plain}-{hashlib.sha256(key.encode()).hexdigest()[:6]}"
