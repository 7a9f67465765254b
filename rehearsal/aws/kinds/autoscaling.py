"""Single tags of Auto Scaling groups."""

from rehearsal.aws.kinds.kind import Kind, Made, Making, Resource, Values, put
from rehearsal.aws.services import RefusedError, Services

_TAG = "aws:autoscaling/tag:Tag"


def _make(new: Making) -> Made:
    return Made(f"{new.inputs['autoscalingGroupName']},{new.inputs['tag']['key']}", {})


def _look(services: Services, resource: Resource) -> Values | None:
    group, _, key = resource.id.partition(",")
    filters = [{"Name": "auto-scaling-group", "Values": [group]}, {"Name": "key", "Values": [key]}]
    found = services.ask("autoscaling", "DescribeTags", Filters=filters)["Tags"]
    if not found:
        return None
    return {"tag": {"key": key, "value": found[0]["Value"], "propagateAtLaunch": found[0]["PropagateAtLaunch"]}}


def _delete(services: Services, resource: Resource) -> None:
    """As AWS does, of whose group nothing is left to untag: moto has no answer for that."""
    group, _, key = resource.id.partition(",")
    if not services.ask("autoscaling", "DescribeAutoScalingGroups", AutoScalingGroupNames=[group])["AutoScalingGroups"]:
        raise RefusedError("autoscaling.DeleteTags", "ValidationError", f"AutoScalingGroup name not found - {group}")
    tag = {"ResourceId": group, "ResourceType": "auto-scaling-group", "Key": key}
    services.ask("autoscaling", "DeleteTags", Tags=[tag])


KINDS = (
    Kind(
        _TAG,
        required=frozenset({"autoscalingGroupName", "tag"}),
        fixed=frozenset({"autoscalingGroupName", "tag.key"}),
        make=_make,
        delete=_delete,
        look=_look,
        change=put(_TAG),
        computed=(),
    ),
)
