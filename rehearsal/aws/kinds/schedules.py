"""One-time schedules and their groups, and the queue of attempts that failed."""

from rehearsal.aws.kinds.kind import Changing, Kind, Made, Making, Resource, Values
from rehearsal.aws.requests import listed, requests
from rehearsal.aws.services import Services, arn


def _group(new: Making) -> Made:
    made = new.answers[0]["ScheduleGroupArn"]
    # moto forgets the tags that a group is made with.
    new.services.ask("scheduler", "TagResource", ResourceArn=made, Tags=listed(new.inputs.get("tags") or {}))
    return Made(new.inputs["name"], {"arn": made, "state": "ACTIVE"})


def _tag_group(services: Services, resource: Resource, tags: Values) -> None:
    made = resource.state["arn"]
    if lost := resource.lost(tags):
        services.ask("scheduler", "UntagResource", ResourceArn=made, TagKeys=lost)
    services.ask("scheduler", "TagResource", ResourceArn=made, Tags=listed(tags))


def _schedule(new: Making) -> Made:
    return Made(
        f"{new.inputs['groupName']}/{new.inputs['name']}", {"arn": new.answers[0]["ScheduleArn"], "state": "ENABLED"}
    )


def _change(change: Changing) -> None:
    (made,) = [one for one in requests(SCHEDULE, change.news) if one.operation == "CreateSchedule"]
    change.services.call("scheduler", "UpdateSchedule", made.params)


def _look(services: Services, resource: Resource) -> Values | None:
    group, _, name = resource.id.partition("/")
    found = services.find("scheduler", "GetSchedule", GroupName=group, Name=name)
    return None if found is None else {"scheduleExpression": found["ScheduleExpression"]}


def _delete(services: Services, resource: Resource) -> None:
    group, _, name = resource.id.partition("/")
    services.ask("scheduler", "DeleteSchedule", GroupName=group, Name=name)


def _queue(new: Making) -> Made:
    url = new.answers[0]["QueueUrl"]
    return Made(url, {"arn": arn("sqs", new.services.region, new.name), "url": url})


def _tag_queue(services: Services, resource: Resource, tags: Values) -> None:
    if lost := resource.lost(tags):
        services.ask("sqs", "UntagQueue", QueueUrl=resource.id, TagKeys=lost)
    services.ask("sqs", "TagQueue", QueueUrl=resource.id, Tags=dict(tags))


SCHEDULE = "aws:scheduler/schedule:Schedule"

KINDS = (
    Kind(
        "aws:scheduler/scheduleGroup:ScheduleGroup",
        required=frozenset(),
        fixed=frozenset({"name"}),
        named="name",
        unique=True,
        make=_group,
        delete=lambda services, resource: services.ask("scheduler", "DeleteScheduleGroup", Name=resource.id),
        tag=_tag_group,
    ),
    Kind(
        SCHEDULE,
        required=frozenset({"flexibleTimeWindow", "scheduleExpression", "target"}),
        fixed=frozenset({"groupName", "name"}),
        unique=True,
        make=_schedule,
        delete=_delete,
        look=_look,
        change=_change,
    ),
    Kind(
        "aws:sqs/queue:Queue",
        required=frozenset(),
        fixed=frozenset({"name"}),
        named="name",
        make=_queue,
        delete=lambda services, resource: services.ask("sqs", "DeleteQueue", QueueUrl=resource.id),
        tag=_tag_queue,
        computed=("arn", "url"),
    ),
)
