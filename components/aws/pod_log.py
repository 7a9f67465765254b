"""Where the logs of an experiment's pods go in CloudWatch, and the right of its shipper to write there."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pulumi

from components.aws.log_group import LogGroup, LogGroupArgs
from components.aws.pod_role import PodRole, PodRoleArgs
from components.log_shipper import ACCOUNT
from experiment import iam, names, shipping


@dataclass(frozen=True, kw_only=True)
class PodLogArgs:
    """Whose logs, for how long."""

    experiment: str
    cluster_name: str
    retention_days: int
    after: Sequence[pulumi.Resource]
    """The cluster."""
    tags: Mapping[str, str]


class PodLog(pulumi.ComponentResource):
    """A group with one stream, and a role that may put events into that stream and do nothing else."""

    def __init__(self, name: str, args: PodLogArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("splitbed:index:PodLog", name, None, opts)
        group = LogGroup(
            f"{name}-group",
            LogGroupArgs(
                name=shipping.group_name(args.experiment),
                retention_days=args.retention_days,
                streams=(shipping.STREAM,),
                tags=args.tags,
            ),
            pulumi.ResourceOptions(parent=self),
        )
        stream = pulumi.Output.concat(group.arn, f":log-stream:{shipping.STREAM}")
        role = PodRole(
            f"{name}-role",
            PodRoleArgs(
                cluster_name=args.cluster_name,
                namespace=names.logs_namespace(args.experiment),
                service_account=ACCOUNT,
                purpose=f"Logs of {args.experiment}",
                statements=[iam.allow(["logs:PutLogEvents"], [stream])],
                after=args.after,
                tags=args.tags,
            ),
            pulumi.ResourceOptions(parent=self),
        )
        self.ready: Sequence[pulumi.Resource] = [group, role]
        self.register_outputs({})
