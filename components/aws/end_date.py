"""The end of the experiment, kept by AWS itself: no laptop needs to be awake for it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import pulumi
import pulumi_aws as aws

from components.aws.role import Role, RoleArgs
from experiment import arn, iam, schedules

_DEAD_LETTERS_S = 14 * 24 * 3600  # the longest that SQS keeps a message


@dataclass(frozen=True, kw_only=True)
class EndDateArgs:
    """When, and which nodes go."""

    experiment: str
    region: str
    cluster_name: str
    end: datetime
    groups: Mapping[str, int]
    """Names of the node groups, with the largest size of each."""
    topic_arn: str | None
    """The SNS topic that is told a day before."""
    tags: Mapping[str, str]


class EndDate(pulumi.ComponentResource):
    """One-time schedules that take every node of every group away, made before the first node is.

    EKS sets each group to zero, by EventBridge Scheduler's universal target; an attempt that fails is repeated for a
    day and then kept in a queue. `schedules` is what a node group depends on.
    """

    def __init__(self, name: str, args: EndDateArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("splitbed:index:EndDate", name, None, opts)
        self._name, self._args = name, args
        self._group = aws.scheduler.ScheduleGroup(
            f"{name}-group", name=args.cluster_name, tags=args.tags, opts=pulumi.ResourceOptions(parent=self)
        )
        self._dead_letters = aws.sqs.Queue(
            f"{name}-dead-letters",
            message_retention_seconds=_DEAD_LETTERS_S,
            sqs_managed_sse_enabled=True,
            tags=args.tags,
            opts=pulumi.ResourceOptions(parent=self),
        )
        self._role = self._scheduler_role()
        partition = arn.partition(args.region)
        self.schedules: Sequence[pulumi.Resource] = [
            self._schedule(
                f"end-{group}",
                args.end,
                schedules.UPDATE_NODE_GROUP.format(partition=partition),
                schedules.to_zero(args.cluster_name, group, largest),
            )
            for group, largest in args.groups.items()
        ]
        if args.topic_arn is not None:
            self._warn(args.topic_arn)
        self.register_outputs({})

    def _scheduler_role(self) -> Role:
        args = self._args
        statements = [
            iam.allow(
                ["eks:UpdateNodegroupConfig"],
                [arn.node_group(args.region, args.cluster_name, group) for group in args.groups],
            ),
            iam.allow(["sqs:SendMessage"], [self._dead_letters.arn]),
        ]
        if args.topic_arn is not None:
            statements.append(iam.allow(["sns:Publish"], [args.topic_arn]))
        return Role(
            f"{self._name}-role",
            RoleArgs(
                description=f"Takes the nodes of {args.cluster_name} away at its end date",
                trust=iam.trust("scheduler.amazonaws.com", StringEquals={"aws:SourceArn": self._group.arn}),
                policy=iam.policy(*statements),
                tags=args.tags,
            ),
            pulumi.ResourceOptions(parent=self),
        )

    def _schedule(
        self, what: str, moment: datetime, target: str, text: str, hooks: pulumi.ResourceHookBinding | None = None
    ) -> aws.scheduler.Schedule:
        return aws.scheduler.Schedule(
            f"{self._name}-{what}",
            name=what,
            group_name=self._group.name,
            schedule_expression=schedules.at(moment),
            schedule_expression_timezone=schedules.TIME_ZONE,
            flexible_time_window=aws.scheduler.ScheduleFlexibleTimeWindowArgs(mode="OFF"),
            # Kept after it has run: one that had deleted itself would be made again by the next `up`.
            action_after_completion="NONE",
            target=aws.scheduler.ScheduleTargetArgs(
                arn=target,
                role_arn=self._role.arn,
                input=text,
                dead_letter_config=aws.scheduler.ScheduleTargetDeadLetterConfigArgs(arn=self._dead_letters.arn),
                retry_policy=aws.scheduler.ScheduleTargetRetryPolicyArgs(
                    maximum_event_age_in_seconds=86400, maximum_retry_attempts=185
                ),
            ),
            opts=pulumi.ResourceOptions(parent=self, depends_on=[self._role], hooks=hooks),
        )

    def _warn(self, topic_arn: str) -> None:
        args = self._args
        moment = args.end - schedules.WARNING_BEFORE
        self._schedule(
            "warning",
            moment,
            topic_arn,
            schedules.warning(args.experiment, args.region, args.end),
            pulumi.ResourceHookBinding(before_create=[_not_past(moment)]),
        )


def _not_past(moment: datetime) -> pulumi.ResourceHook:
    """Have said in a preview, and only of a warning that is still to be made, what AWS would refuse at the end."""

    def say(_: pulumi.ResourceHookArgs) -> None:
        check_warning(moment, datetime.now(UTC))

    return pulumi.ResourceHook("warning", say, pulumi.ResourceHookOptions(on_dry_run=True))


def check_warning(moment: datetime, now: datetime) -> None:
    """Refuse a warning for a moment that has passed: AWS makes no schedule of it.

    Raises:
        pulumi.RunError: it has passed.
    """
    if moment <= now:
        raise pulumi.RunError(
            "end_date: it is less than a day away, so nobody can be warned a day before. "
            "Set a later moment, or leave out cluster.warn_topic."
        )
