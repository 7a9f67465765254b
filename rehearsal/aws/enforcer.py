"""EventBridge Scheduler at work: what is due on the doubles' clock is done, if the schedule's role may."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from rehearsal.aws.requests import Request, small
from rehearsal.aws.rights import may
from rehearsal.aws.services import RefusedError, Services, arn

_UNIVERSAL = ":aws-sdk:"


@dataclass
class Clock:
    """The doubles' time: this machine's, and what it was put forward by."""

    ahead: timedelta = timedelta()

    def now(self) -> datetime:
        """Return the moment."""
        return datetime.now(UTC) + self.ahead


@dataclass
class Enforcer:
    """Runs one-time schedules; each once, as they are kept after that."""

    services: Services
    clock: Clock
    ran: dict[str, str] = field(default_factory=dict)
    """By ARN, what came of it."""

    def advance_to(self, moment: datetime) -> None:
        """Put the clock to a moment, and do what is due by then."""
        self.clock.ahead = moment - datetime.now(UTC)
        self.run_due()

    def run_due(self) -> None:
        """Do what is due."""
        for one in self._schedules():
            due = datetime.strptime(one["ScheduleExpression"], "at(%Y-%m-%dT%H:%M:%S)").replace(tzinfo=UTC)
            if one["ScheduleExpressionTimezone"] != "UTC" or one["Arn"] in self.ran or due > self.clock.now():
                continue
            try:
                self._run(one["Target"])
                self.ran[one["Arn"]] = "done"
            except RefusedError as error:
                self.ran[one["Arn"]] = str(error)
                self._dead_letter(one["Target"], str(error))

    def _schedules(self) -> Iterator[dict[str, Any]]:
        for one in self.services.ask("scheduler", "ListSchedules")["Schedules"]:
            yield self.services.ask("scheduler", "GetSchedule", GroupName=one["GroupName"], Name=one["Name"])

    def _run(self, target: Mapping[str, Any]) -> None:
        if _UNIVERSAL not in target["Arn"]:
            self._check(target["RoleArn"], "sns:Publish", target["Arn"])
            self.services.ask("sns", "Publish", TopicArn=target["Arn"], Message=target["Input"])
            return
        service, operation = target["Arn"].split(":")[-2:]
        operation = operation[0].upper() + operation[1:]
        request = Request(service, operation, small(json.loads(target["Input"])))
        self._check(target["RoleArn"], f"{service}:{operation}", self._about(request))
        self.services.call(request.service, request.operation, request.params)

    def _about(self, request: Request) -> str:
        params = request.params
        return arn("eks", self.services.region, f"nodegroup/{params['clusterName']}/{params['nodegroupName']}/id")

    def _check(self, role: str, action: str, resource: str) -> None:
        """Refuse what no statement of the role's own policies allows."""
        if may(self.services, role.rpartition("/")[2], action, resource):
            return
        raise RefusedError(action, "AccessDeniedException", f"{role} may not, on {resource}")

    def _dead_letter(self, target: Mapping[str, Any], text: str) -> None:
        queue = target["DeadLetterConfig"]["Arn"].rpartition(":")[2]
        url = self.services.ask("sqs", "GetQueueUrl", QueueName=queue)["QueueUrl"]
        self.services.ask("sqs", "SendMessage", QueueUrl=url, MessageBody=text)
