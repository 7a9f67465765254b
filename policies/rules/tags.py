"""Everything in AWS says whose it is and when it ends, instances and volumes from their birth."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from experiment.ownership import END_DATE, EXPERIMENT, OWNER, PURPOSE
from policies.inside import entries
from policies.rule import Rule
from policies.seen import CLUSTER_COMPONENT, UNKNOWN, Seen

UNTAGGABLE = frozenset(
    {
        "aws:autoscaling/tag:Tag",
        "aws:ec2/tag:Tag",
        "aws:cloudwatch/logStream:LogStream",
        "aws:ec2/mainRouteTableAssociation:MainRouteTableAssociation",
        "aws:ec2/route:Route",
        "aws:ec2/routeTableAssociation:RouteTableAssociation",
        "aws:ec2/securityGroupRule:SecurityGroupRule",
        "aws:eks/accessPolicyAssociation:AccessPolicyAssociation",
        "aws:iam/rolePolicy:RolePolicy",
        "aws:iam/rolePolicyAttachment:RolePolicyAttachment",
        "aws:s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration",
        "aws:s3/bucketPolicy:BucketPolicy",
        "aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock",
        "aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration",
        "aws:scheduler/schedule:Schedule",  # its group carries the tags
        "aws:sqs/queuePolicy:QueuePolicy",
    }
)
"""Types that take no tags; every other one in AWS must have them."""

_LAUNCH_TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate"
_BORN = ("instance", "volume")
_REMEDY = "Pass the experiment's tags, experiment.ownership.tags()."


def _complaints(seen: Seen) -> Iterator[str]:
    if seen.type == CLUSTER_COMPONENT:
        if not seen.props:
            return
    elif not seen.type.startswith("aws:") or seen.type in UNTAGGABLE:
        return
    yield from _missing("It", seen.props.get("tags"))
    if seen.type == _LAUNCH_TEMPLATE:
        specified = seen.props.get("tagSpecifications")
        if specified is UNKNOWN:
            return
        tags = {each.get("resourceType"): each.get("tags") for each in entries(specified) if isinstance(each, Mapping)}
        for kind in _BORN:
            yield from _missing(f"Each {kind} that it starts", tags.get(kind))


def _missing(what: str, tags: Any) -> Iterator[str]:
    if tags is UNKNOWN:
        return
    known = tags if isinstance(tags, Mapping) else {}
    absent = [key for key in (EXPERIMENT, OWNER, PURPOSE, END_DATE) if not known.get(key)]
    if absent:
        yield f"{what} has no tag {', '.join(absent)}. {_REMEDY}"
    end = known.get(END_DATE)
    if isinstance(end, str) and end and not _is_moment(end):
        yield f"{what} has {END_DATE} {end!r}, which is no moment with a time zone. {_REMEDY}"


def _is_moment(text: str) -> bool:
    try:
        return datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        return False


TAGGED = Rule(
    "tagged-with-an-end",
    "Everything in AWS, and what a launch template starts, carries the experiment's tags and its end date.",
    _complaints,
)
