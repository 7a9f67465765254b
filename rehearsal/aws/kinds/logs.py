"""Log groups, their streams, and the control plane that writes one anew if its group goes too early."""

from rehearsal.aws.kinds.kind import Changing, Kind, Made, Making, Resource, Values
from rehearsal.aws.services import Services, arn


def group_of(cluster: str) -> str:
    """Return the name of the log group that EKS writes a control plane's log to."""
    return f"/aws/eks/{cluster}/cluster"


def _group_arn(services: Services, name: str) -> str:
    return arn("logs", services.region, f"log-group:{name}")


def _group(new: Making) -> Made:
    return Made(new.inputs["name"], {"arn": _group_arn(new.services, new.inputs["name"])})


def _look(services: Services, resource: Resource) -> Values | None:
    found = services.ask("logs", "DescribeLogGroups", logGroupNamePrefix=resource.id)["logGroups"]
    ours = [one for one in found if one["logGroupName"] == resource.id]
    return {"retentionInDays": ours[0].get("retentionInDays", 0)} if ours else None


def _change(change: Changing) -> None:
    change.services.ask(
        "logs", "PutRetentionPolicy", logGroupName=change.resource.id, retentionInDays=change.news["retentionInDays"]
    )


def _tag(services: Services, resource: Resource, tags: Values) -> None:
    group = _group_arn(services, resource.id)
    if lost := resource.lost(tags):
        services.ask("logs", "UntagResource", resourceArn=group, tagKeys=lost)
    services.ask("logs", "TagResource", resourceArn=group, tags=dict(tags))


def _delete(services: Services, resource: Resource) -> None:
    services.ask("logs", "DeleteLogGroup", logGroupName=resource.id)
    for cluster in services.ask("eks", "ListClusters")["clusters"]:
        if group_of(cluster) == resource.id:  # it goes on writing, into a group of nobody's making (pitfalls B6)
            services.ask("logs", "CreateLogGroup", logGroupName=resource.id)


def _delete_stream(services: Services, resource: Resource) -> None:
    group, _, stream = resource.id.partition("|")
    services.ask("logs", "DeleteLogStream", logGroupName=group, logStreamName=stream)


KINDS = (
    Kind(
        "aws:cloudwatch/logGroup:LogGroup",
        required=frozenset(),
        fixed=frozenset({"name"}),
        unique=True,
        named="name",
        make=_group,
        delete=_delete,
        look=_look,
        change=_change,
        tag=_tag,
    ),
    Kind(
        "aws:cloudwatch/logStream:LogStream",
        required=frozenset({"logGroupName", "name"}),
        fixed=frozenset({"logGroupName", "name"}),
        unique=True,
        make=lambda new: Made(f"{new.inputs['logGroupName']}|{new.inputs['name']}", {}),
        delete=_delete_stream,
        computed=("arn",),
    ),
)
