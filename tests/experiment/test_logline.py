"""Lines as they come back from files and from CloudWatch."""

import json
from typing import Any

import pytest

from experiment.logline import Line, of_event, of_otlp, once

TIME = 1_764_500_000_123_456_789
RESOURCE = {
    "k8s.node.name": "engine-0",
    "k8s.pod.name": "exp-a-0-1",
    "k8s.pod.uid": "0f-1",
    "k8s.container.name": "engine",
    "k8s.container.restart_count": "2",
    "splitbed.group": "0",
}
LINE = Line(
    time_ns=TIME,
    text="a ünicode line",
    node="engine-0",
    pod="exp-a-0-1",
    uid="0f-1",
    container="engine",
    restart="2",
    stream="stderr",
    offset=77,
    group="0",
)


def pairs(values: dict[str, str]) -> list[dict[str, Any]]:
    return [{"key": key, "value": {"stringValue": value}} for key, value in values.items()]


def document(text: str = LINE.text, offset: int = 77) -> str:
    record = {
        "timeUnixNano": str(TIME),
        "body": {"stringValue": text},
        "attributes": [
            *pairs({"log.iostream": "stderr"}),
            {"key": "log.file.record_offset", "value": {"intValue": str(offset)}},
        ],
    }
    return json.dumps(
        {"resourceLogs": [{"resource": {"attributes": pairs(RESOURCE)}, "scopeLogs": [{"logRecords": [record]}]}]},
        ensure_ascii=False,
        separators=(",", ":"),
    )


def test_a_file_of_documents_gives_its_lines() -> None:
    assert of_otlp(f"{document()}\n{document(offset=99)}\n") == [LINE, of_otlp(document(offset=99))[0]]
    assert of_otlp(document())[0].offset == 77
    assert of_otlp("") == []


@pytest.mark.parametrize("cut", [1, 20, 60, 150, -1])
def test_what_follows_a_torn_document_is_not_lost(cut: int) -> None:
    torn = document("torn")[:cut]
    for between in ("", "\n"):
        assert of_otlp(f"{document('before')}\n{torn}{between}{document()}\n") == [of_otlp(document("before"))[0], LINE]


def test_documents_without_a_line_end_between_them_are_two() -> None:
    assert [line.offset for line in of_otlp(document(offset=1) + document(offset=2))] == [1, 2]


@pytest.mark.parametrize("shape", ["maps", "pairs"])
def test_an_event_of_cloudwatch_is_read_however_it_writes_attributes(shape: str) -> None:
    attributes: Any = {"log.iostream": "stderr", "log.file.record_offset": 77}
    resource: Any = RESOURCE
    body: Any = LINE.text
    if shape == "pairs":
        parsed = json.loads(document())["resourceLogs"][0]
        record = parsed["scopeLogs"][0]["logRecords"][0]
        resource, attributes, body = parsed["resource"]["attributes"], record["attributes"], record["body"]
    message = {"resource": {"attributes": resource}, "timeUnixNano": TIME, "body": body, "attributes": attributes}
    assert of_event(json.dumps(message), TIME // 10**6) == LINE


@pytest.mark.parametrize("message", ["no JSON", "[1]", "{}", '{"resource": {"attributes": null}}', '"text"'])
def test_any_other_event_is_a_line_as_it_is(message: str) -> None:
    assert of_event(message, 1000) == Line(time_ns=10**9, text=message)


def test_what_was_delivered_twice_is_told_once() -> None:
    seen: set[tuple[object, ...]] = set()
    other = of_otlp(document(offset=99))[0]
    assert list(once([LINE, other, LINE], seen)) == [LINE, other]
    assert list(once([other], seen)) == []


def test_two_lives_that_say_the_same_are_two() -> None:
    again = of_otlp(document().replace("0f-1", "0f-2"))[0]
    assert len(list(once([LINE, again], set()))) == 2


def test_the_moment_is_to_the_millisecond_in_utc() -> None:
    assert LINE.moment == "2025-11-30T10:53:20.123Z"
