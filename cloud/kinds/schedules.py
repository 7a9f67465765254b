"""What ends the nodes: groups of schedules, which carry the tags, and the schedules in them, which cannot."""

from collections.abc import Iterator, Sequence

from cloud.account import Account
from cloud.kinds.kind import Kind
from cloud.thing import Thing, tag_map


def _groups(account: Account, region: str, _: Sequence[Thing]) -> Iterator[Thing]:
    for one in account.pages("scheduler", region, "list_schedule_groups", "ScheduleGroups"):
        if one["Name"] == "default" or one.get("State") == "DELETING":
            continue  # the first is AWS's own
        tags = account.seen("scheduler", region, "list_tags_for_resource", ResourceArn=one["Arn"])
        if tags is not None:
            yield Thing("schedule group", one["Name"], region, tag_map(tags["Tags"]))


def _schedules(account: Account, region: str, known: Sequence[Thing]) -> Iterator[Thing]:
    for group in [thing for thing in known if thing.kind == "schedule group" and thing.experiment is not None]:
        for one in account.pages("scheduler", region, "list_schedules", "Schedules", GroupName=group.id):
            said = account.seen("scheduler", region, "get_schedule", GroupName=group.id, Name=one["Name"])
            if said is None:
                continue
            yield Thing(
                "schedule",
                f"{group.id}/{one['Name']}",
                region,
                group.tags,
                handle=one["Name"],
                parent=group.id,
                ends=said["ScheduleExpression"],
            )


GROUP = Kind(
    "schedule group",
    _groups,
    lambda account, thing: account.client("scheduler", thing.region).delete_schedule_group(Name=thing.id),
)
SCHEDULE = Kind(
    "schedule",
    _schedules,
    lambda account, thing: account.client("scheduler", thing.region).delete_schedule(
        GroupName=thing.parent, Name=thing.handle
    ),
)
