"""An experiment's log group, played by moto."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from botocore.exceptions import ClientError

from cloud.account import Account
from cloud.logs import PodLog
from cloud.refusal import AWSRefusedError
from experiment.logline import Line
from tests.cloud.conftest import REGION, SESSION
from tests.cloud.unplayed import Unplayed

pytestmark = pytest.mark.thorough

GROUP = "/splitbed/exp-a"


@pytest.fixture
def now_ms() -> int:
    """By moto's clock, which refuses events of other days as CloudWatch does."""
    return round(datetime.now(UTC).timestamp() * 1000)


@pytest.fixture
def group(unplayed: Unplayed) -> Any:
    client: Any = SESSION.client("logs", region_name=REGION)
    client.create_log_group(logGroupName=GROUP)
    client.create_log_stream(logGroupName=GROUP, logStreamName="pods")
    return client


def put(client: Any, *events: tuple[int, str]) -> None:
    client.put_log_events(
        logGroupName=GROUP,
        logStreamName="pods",
        logEvents=[
            {
                "timestamp": time,
                "message": json.dumps(
                    {
                        "resource": {"attributes": {"k8s.pod.name": "exp-a-0"}},
                        "body": text,
                        "timeUnixNano": time * 10**6,
                    }
                ),
            }
            for time, text in events
        ],
    )


def texts(log: PodLog, since_ms: int = 0) -> list[str]:
    return [line.text for some in log.lines(since_ms) for line in some]


def test_all_lines_are_read_page_by_page(group: Any, account: Account, now_ms: int) -> None:
    put(group, *((now_ms + number, f"line {number}") for number in range(250)))
    asked = []
    real = account.ask

    def few(service: str, region: str, operation: str, **arguments: Any) -> Any:
        asked.append(operation)
        return real(service, region, operation, **arguments, limit=100)

    account.ask = few  # type: ignore[method-assign]
    assert texts(PodLog(account, REGION, GROUP, "pods")) == [f"line {number}" for number in range(250)]
    assert len(asked) >= 3


def test_a_line_is_what_its_event_says(group: Any, account: Account, now_ms: int) -> None:
    put(group, (now_ms, "one"))
    (some,) = PodLog(account, REGION, GROUP, "pods").lines(0)
    assert some == [Line(time_ns=now_ms * 10**6, text="one", pod="exp-a-0")]


def test_a_later_look_finds_what_came_late(group: Any, account: Account, now_ms: int) -> None:
    log = PodLog(account, REGION, GROUP, "pods")
    put(group, (now_ms - 600_000, "long ago"), (now_ms, "now"))
    assert texts(log) == ["long ago", "now"]
    put(group, (now_ms - 60_000, "late, from a collector that could not send"))
    put(group, (now_ms + 1, "new"))
    assert texts(log) == ["late, from a collector that could not send", "now", "new"]


def test_only_what_was_written_since(group: Any, account: Account, now_ms: int) -> None:
    put(group, (now_ms - 600_000, "long ago"), (now_ms, "now"))
    assert texts(PodLog(account, REGION, GROUP, "pods"), now_ms - 1000) == ["now"]


def test_a_group_that_is_not_there_is_told_with_when_it_is(unplayed: Unplayed, account: Account) -> None:
    with pytest.raises(AWSRefusedError) as refused:
        texts(PodLog(account, REGION, GROUP, "pods"))
    assert refused.value.message == f"There is no log group {GROUP} in {REGION}."
    assert "pulumi up" in str(refused.value.remedy)


def test_who_may_not_read_is_told_which_right_is_missing(unplayed: Unplayed, account: Account) -> None:
    def denied(_: Any) -> Any:
        raise ClientError({"Error": {"Code": "AccessDeniedException", "Message": "no"}}, "FilterLogEvents")

    unplayed.answers["FilterLogEvents"] = denied
    with pytest.raises(AWSRefusedError) as refused:
        texts(PodLog(account, REGION, GROUP, "pods"))
    assert refused.value.denied == "logs:FilterLogEvents"
