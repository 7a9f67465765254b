"""Tags of what lives, put right where it is: `pulumi up` may not touch them without recycling a node."""

from collections.abc import Mapping, Sequence

from cloud.account import Account
from cloud.kinds.all import KINDS
from cloud.survey import Owned
from cloud.thing import Thing

_AT_ONCE = 200
"""Things in one call of EC2, which takes up to a thousand of them; tags of a group go twenty-five at a time."""
_GROUP_TAGS_AT_ONCE = 25


def put_right(account: Account, found: Sequence[Owned], tags: Mapping[str, str]) -> list[Thing]:
    """Give instances, their volumes and interfaces, and the groups that start them, the tags; return which.

    Tags that are no business of ours stay. A group's are given to each instance that it starts later.

    Args:
        account: whose.
        found: things of one experiment; those that are right, or that `pulumi up` tags, are left alone.
        tags: what they should have.

    Raises:
        AWSRefusedError: a service refused.
    """
    wrong = [
        one.thing
        for one in found
        if KINDS[one.thing.kind].fixable and any(one.thing.tags.get(key) != value for key, value in tags.items())
    ]
    groups = [thing for thing in wrong if thing.kind == "auto scaling group"]
    listed = [{"Key": key, "Value": value} for key, value in tags.items()]
    for region in sorted({thing.region for thing in wrong}):
        ids = [thing.id for thing in wrong if thing.region == region and thing not in groups]
        for first in range(0, len(ids), _AT_ONCE):
            account.ask("ec2", region, "create_tags", Resources=ids[first : first + _AT_ONCE], Tags=listed)
    for group in groups:
        of_group = [
            {**tag, "ResourceId": group.id, "ResourceType": "auto-scaling-group", "PropagateAtLaunch": True}
            for tag in listed
        ]
        for first in range(0, len(of_group), _GROUP_TAGS_AT_ONCE):
            account.ask(
                "autoscaling",
                group.region,
                "create_or_update_tags",
                Tags=of_group[first : first + _GROUP_TAGS_AT_ONCE],
            )
    return wrong
