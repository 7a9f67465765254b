"""What an experiment's pods wrote, from its log group in CloudWatch."""

from collections.abc import Iterator, Sequence

from cloud.account import Account
from cloud.refusal import AWSRefusedError
from experiment.logline import Line, of_event

_OVERLAP_MS = 120_000
"""How far back each further look goes: what came late, from a collector that could not send, has an earlier time."""


class PodLog:
    """One stream of one log group."""

    def __init__(self, account: Account, region: str, group: str, stream: str) -> None:
        self._account, self._region, self._group, self._stream = account, region, group, stream
        self._newest_ms = 0

    def lines(self, since_ms: int) -> Iterator[Sequence[Line]]:
        """Return the lines that are there, in the order of their times; the next call returns the newer ones.

        A line that came in since with an earlier time is returned too, and some that were returned before.

        Args:
            since_ms: of the first call; milliseconds since 1970.

        Raises:
            AWSRefusedError: CloudWatch does not answer, or the group is not there.
        """
        start = max(since_ms, self._newest_ms - _OVERLAP_MS)
        token: dict[str, str] = {}
        while True:
            try:
                page = self._account.ask(
                    "logs",
                    self._region,
                    "filter_log_events",
                    logGroupName=self._group,
                    logStreamNames=[self._stream],
                    startTime=start,
                    **token,
                )
            except AWSRefusedError as error:
                if error.denied or "does not exist" not in error.message:
                    raise
                raise AWSRefusedError(
                    f"There is no log group {self._group} in {self._region}.",
                    "It is there between `pulumi up` and `pulumi destroy` of a stack with logs.kind cloudwatch.",
                ) from error
            events = page.get("events", [])
            self._newest_ms = max([self._newest_ms, *(event["timestamp"] for event in events)])
            yield [of_event(event["message"], event["timestamp"]) for event in events]
            if not page.get("nextToken"):
                return
            token = {"nextToken": page["nextToken"]}
