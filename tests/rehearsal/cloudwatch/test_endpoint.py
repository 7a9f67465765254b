"""The double of CloudWatch's OTLP endpoint: what it takes, what it refuses, and what goes wrong by its seed."""

import gzip
import json
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import (
    ExportLogsServiceRequest,
    ExportLogsServiceResponse,
)

from rehearsal.cloudwatch import Answer, Endpoint, Faults, Kept, Served
from rehearsal.cloudwatch.signature import Signed

KEYS = Credentials("AKIDEXAMPLE", "a secret of the test's")
NOW = datetime.now(UTC).replace(microsecond=0)
URL = "http://logs.invalid/v1/logs"
HEADERS = {
    "Host": "logs.invalid",
    "Content-Type": "application/x-protobuf",
    "Content-Encoding": "gzip",
    "x-aws-log-group": "/splitbed/exp-a",
    "x-aws-log-stream": "pods",
}


def endpoint(faults: Faults | None = None) -> Endpoint:
    return Endpoint("/splitbed/exp-a", ["pods"], "us-east-1", KEYS, lambda: NOW, faults)


def message(*bodies: str, written: datetime = NOW) -> bytes:
    found = ExportLogsServiceRequest()
    of_resource = found.resource_logs.add()
    pod = of_resource.resource.attributes.add(key="k8s.pod.name")
    pod.value.string_value = "exp-a-0"
    records = of_resource.scope_logs.add().log_records
    for number, body in enumerate(bodies):
        record = records.add(time_unix_nano=int(written.timestamp()) * 10**9 + number)
        record.body.string_value = body
        record.attributes.add(key="log.file.record_offset").value.int_value = number
    return bytes(found.SerializeToString())


def signed(
    body: bytes,
    headers: Mapping[str, str] = HEADERS,
    *,
    keys: Credentials = KEYS,
    region: str = "us-east-1",
    service: str = "logs",
    url: str = URL,
) -> Signed:
    packed = gzip.compress(body) if "Content-Encoding" in headers else body
    request = AWSRequest(method="POST", url=url, headers=dict(headers), data=packed)
    SigV4Auth(keys, service, region).add_auth(request)
    return Signed(
        method="POST", url=url, headers={name.lower(): value for name, value in request.headers.items()}, body=packed
    )


def test_what_is_signed_and_addressed_is_taken_with_all_it_says() -> None:
    answer, kept = endpoint().answer(signed(message("one", "two")))
    assert answer.status == 200
    assert not ExportLogsServiceResponse.FromString(answer.body).HasField("partial_success")
    assert kept == [
        Kept(
            body=body,
            time_ns=int(NOW.timestamp()) * 10**9 + number,
            resource={"k8s.pod.name": "exp-a-0"},
            attributes={"log.file.record_offset": number},
        )
        for number, body in enumerate(("one", "two"))
    ]


def test_uncompressed_is_taken_too() -> None:
    plain = {name: value for name, value in HEADERS.items() if name != "Content-Encoding"}
    assert endpoint().answer(signed(message("one"), plain))[0].status == 200


GOOD = signed(message("one"))


def without(name: str) -> Signed:
    return replace(GOOD, headers={key: value for key, value in GOOD.headers.items() if key != name})


@pytest.mark.parametrize(
    ("request_", "status", "why"),
    [
        (without("authorization"), 403, "Missing Authentication Token"),
        (without("x-amz-date"), 403, "Date must be"),
        (without("host"), 403, "must be signed"),
        (signed(message("one"), keys=Credentials("AKIDOTHER", "other")), 403, "token included"),
        (signed(message("one"), keys=Credentials("AKIDEXAMPLE", "guessed")), 403, "does not match"),
        (replace(GOOD, body=gzip.compress(message("two"))), 403, "does not match"),
        (replace(GOOD, headers={**GOOD.headers, "x-aws-log-stream": "x"}), 403, "does not match"),
        (signed(message("one"), service="es"), 403, "scoped to us-east-1 and logs"),
        (signed(message("one"), region="eu-west-1"), 403, "scoped to us-east-1 and logs"),
        (signed(message("one"), {**HEADERS, "x-aws-log-group": "/other"}), 400, "log group does not exist"),
        (signed(message("one"), {**HEADERS, "x-aws-log-stream": "other"}), 400, "log stream does not exist"),
        (signed(message("one"), {**HEADERS, "Content-Type": "text/plain"}), 400, "protobuf"),
        (signed(message("one"), {**HEADERS, "Content-Encoding": "zstd"}), 400, "gzip"),
        (signed(b"\xff\xff"), 400, "no OTLP"),
        (signed(message("one"), url="http://logs.invalid/v1/traces"), 404, "/v1/traces"),
    ],
)
def test_what_aws_refuses_is_refused_and_not_kept(request_: Signed, status: int, why: str) -> None:
    answer, kept = endpoint().answer(request_)
    assert (answer.status, list(kept)) == (status, [])
    assert why in answer.why


def test_a_signature_of_an_hour_ago_is_refused() -> None:
    later = Endpoint("/splitbed/exp-a", ["pods"], "us-east-1", KEYS, lambda: NOW + timedelta(hours=1))
    assert "expired" in later.answer(GOOD)[0].why


@pytest.mark.parametrize("age", [timedelta(days=15), timedelta(hours=-3)])
def test_lines_of_other_days_are_rejected_in_a_partial_success(age: timedelta) -> None:
    answer, kept = endpoint().answer(signed(message("one", "two", written=NOW - age)))
    said = ExportLogsServiceResponse.FromString(answer.body).partial_success
    assert (answer.status, list(kept), said.rejected_log_records) == (200, [], 2)


@pytest.mark.parametrize(
    ("fault", "status", "taken"),
    [("throttled", 429, 0), ("unavailable", 503, 0), ("unanswered", 0, 1), ("warned", 200, 1)],
)
def test_each_fault_is_its_own(fault: str, status: int, taken: int) -> None:
    answer, kept = endpoint(Faults(**{fault: 1.0}, retry_after_s=3)).answer(GOOD)  # type: ignore[arg-type]
    assert (answer.status, len(kept)) == (status, taken)
    assert answer.headers.get("Retry-After") == ("3" if status in (429, 503) else None)
    if fault == "warned":
        said = ExportLogsServiceResponse.FromString(answer.body).partial_success
        assert said.error_message
        assert said.rejected_log_records == 0


def test_the_same_seed_befalls_the_same_requests() -> None:
    drawn = [[Faults(seed=seed, throttled=0.2, unavailable=0.2).draw(n) for n in range(300)] for seed in (7, 7, 8)]
    assert drawn[0] == drawn[1] != drawn[2]
    assert 30 < drawn[0].count("throttled") < 90
    assert set(drawn[0]) == {"throttled", "unavailable", None}


def sent(url: str, request: Signed) -> Answer:
    asked = urllib.request.Request(url + "/v1/logs", data=request.body, headers=dict(request.headers), method="POST")  # noqa: S310
    try:
        with urllib.request.urlopen(asked, timeout=10) as answered:  # noqa: S310  the test's own server
            return Answer(status=answered.status, body=answered.read())
    except urllib.error.HTTPError as error:
        with error:
            return Answer(status=error.code, headers=dict(error.headers))


def test_it_is_served_and_writes_down_what_it_took_and_what_not(tmp_path: Path) -> None:
    file = tmp_path / "log.jsonl"
    with Served(endpoint(), ("127.0.0.1", 0), file) as served:
        assert sent(served.url, GOOD).status == 200
        assert sent(served.url, without("authorization")).status == 403
    taken, refused = (json.loads(line) for line in file.read_text().splitlines())
    assert taken["taken"]["body"] == "one"
    assert refused["refused"] == {"status": 403, "why": "Missing Authentication Token"}


def test_a_lost_answer_is_a_closed_connection(tmp_path: Path) -> None:
    lost = endpoint(Faults(unanswered=1.0))
    with Served(lost, ("127.0.0.1", 0), tmp_path / "log.jsonl") as served, pytest.raises(OSError, match=r"."):
        sent(served.url, GOOD)
    assert "one" in (tmp_path / "log.jsonl").read_text()
