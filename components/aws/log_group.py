"""A CloudWatch log group of our own: what makes one by itself keeps it for ever."""

from collections.abc import Mapping
from dataclasses import dataclass

import pulumi
import pulumi_aws as aws


@dataclass(frozen=True, kw_only=True)
class LogGroupArgs:
    """Its name, which whoever writes there knows beforehand, and for how long it keeps what is written."""

    name: str
    retention_days: int
    streams: tuple[str, ...] = ()
    """Streams that must be there before the first line."""
    tags: Mapping[str, str]


class LogGroup(pulumi.ComponentResource):
    """A group and its streams; gone with the stack, as results are kept elsewhere."""

    def __init__(self, name: str, args: LogGroupArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("splitbed:index:LogGroup", name, None, opts)
        group = aws.cloudwatch.LogGroup(
            f"{name}-group",
            name=args.name,
            retention_in_days=args.retention_days,
            tags=args.tags,
            opts=pulumi.ResourceOptions(parent=self),
        )
        for stream in args.streams:
            aws.cloudwatch.LogStream(
                f"{name}-{stream}",
                name=stream,
                log_group_name=group.name,
                opts=pulumi.ResourceOptions(parent=self),
            )
        self.name: pulumi.Output[str] = group.name
        self.arn: pulumi.Output[str] = group.arn
        self.register_outputs({"name": self.name, "arn": self.arn})
