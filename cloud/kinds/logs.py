"""Log groups of CloudWatch."""

from collections.abc import Iterator, Sequence

from cloud.account import Account
from cloud.kinds.kind import Kind
from cloud.thing import Thing

_OF_A_CLUSTER = (("/aws/eks/", "/cluster"), ("/splitbed/", ""))
"""What the names of our groups begin and end with. EKS writes the first anew, untagged, if it is deleted too early."""


def _log_groups(account: Account, region: str, _: Sequence[Thing]) -> Iterator[Thing]:
    for begin, end in _OF_A_CLUSTER:
        for one in account.pages("logs", region, "describe_log_groups", "logGroups", logGroupNamePrefix=begin):
            name = one["logGroupName"]
            if not name.endswith(end):
                continue
            arn = one["arn"].removesuffix(":*")
            said = account.seen("logs", region, "list_tags_for_resource", resourceArn=arn)
            if said is not None:
                cluster = name.removeprefix(begin).removesuffix(end)
                yield Thing("log group", name, region, said["tags"], cluster=cluster)


LOG_GROUP = Kind(
    "log group",
    _log_groups,
    lambda account, thing: account.client("logs", thing.region).delete_log_group(logGroupName=thing.id),
)
