"""One line of a pod's log, as the collector shipped it, from wherever it went."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

_NANO = 10**9
_MILLI_TO_NANO = 10**6
_DECODER = json.JSONDecoder()
_BEGINS = '{"resourceLogs"'


@dataclass(frozen=True, kw_only=True)
class Line:
    """What was written, when, and by what.

    Attributes:
        time_ns: nanoseconds since 1970, as the container's runtime saw it.
        uid: the pod's; a pod that is made anew under its name has another.
        restart: how often its container had been started again within that pod.
        stream: stdout or stderr.
        offset: byte in its file at which it begins; none where that was not told.
        run: of the benchmark's pods alone.
        group: number of its group of engine pods.
    """

    time_ns: int
    text: str
    node: str = ""
    pod: str = ""
    uid: str = ""
    container: str = ""
    restart: str = ""
    stream: str = ""
    offset: int | None = None
    run: str = ""
    group: str = ""

    @property
    def identity(self) -> tuple[object, ...]:
        """What two deliveries of one line have in common, and no two lines."""
        return self.uid, self.container, self.restart, self.time_ns, self.offset, self.text

    @property
    def moment(self) -> str:
        """When it was written, to the millisecond, in UTC."""
        seconds, rest = divmod(self.time_ns, _NANO)
        return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.{rest // _MILLI_TO_NANO:03d}Z"


def once(lines: Iterable[Line], seen: set[tuple[object, ...]]) -> Iterator[Line]:
    """Return the lines that were not seen before; shipping delivers at least once, so some come again."""
    for line in lines:
        if line.identity not in seen:
            seen.add(line.identity)
            yield line


def of_otlp(text: str) -> list[Line]:
    """Return the lines in OTLP's JSON, one document after another.

    A collector that was killed may have left a document without its end, or without the line end after it: what comes
    then is not lost.
    """
    found: list[Line] = []
    at = text.find(_BEGINS)
    while at >= 0:
        try:
            document, at = _DECODER.raw_decode(text, at)
        except ValueError:
            at += 1
        else:
            found += _of_document(document)
        at = text.find(_BEGINS, at)
    return found


def _of_document(document: Any) -> Iterator[Line]:
    for of_resource in document.get("resourceLogs", []):
        resource = _plain(of_resource.get("resource", {}).get("attributes", []))
        for of_scope in of_resource.get("scopeLogs", []):
            for record in of_scope.get("logRecords", []):
                attributes = _plain(record.get("attributes", []))
                yield _line(int(record["timeUnixNano"]), _value(record.get("body", {})), resource, attributes)


def of_event(message: str, timestamp_ms: int) -> Line:
    """Return the line in an event of CloudWatch, which keeps a record of OTLP as JSON.

    How exactly is not promised anywhere, so both ways of writing attributes are read; what is no such record is a line
    as it is, at the event's own time.
    """
    try:
        record = json.loads(message)
        resource = _attributes(record["resource"]["attributes"])
        attributes = _attributes(record.get("attributes", {}))
        time_ns = int(record.get("timeUnixNano") or timestamp_ms * _MILLI_TO_NANO)
        return _line(time_ns, _value(record["body"]), resource, attributes)
    except (ValueError, KeyError, TypeError, AttributeError):
        return Line(time_ns=timestamp_ms * _MILLI_TO_NANO, text=message)


def _line(time_ns: int, text: str, resource: Mapping[str, Any], attributes: Mapping[str, Any]) -> Line:
    def said(name: str) -> str:
        return str(resource.get(name, ""))

    offset = attributes.get("log.file.record_offset")
    return Line(
        time_ns=time_ns,
        text=text,
        node=said("k8s.node.name"),
        pod=said("k8s.pod.name"),
        uid=said("k8s.pod.uid"),
        container=said("k8s.container.name"),
        restart=said("k8s.container.restart_count"),
        stream=str(attributes.get("log.iostream", "")),
        offset=None if offset is None else int(offset),
        run=said("splitbed.run"),
        group=said("splitbed.group"),
    )


def _attributes(value: Any) -> dict[str, Any]:
    return _plain(value) if isinstance(value, list) else dict(value)


def _plain(pairs: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    return {str(pair["key"]): _value(pair["value"]) for pair in pairs}


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return "" if not value else _value(next(iter(value.values())))
    return value if isinstance(value, str) else json.dumps(value)
