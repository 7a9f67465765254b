"""The endpoint without a network: a request in, an answer out, and what was taken is kept.

Of what is refused, and how: AWS's pages "OTLP endpoints" and "Sending logs using the OTLP endpoint", read 2026-11-30.
"""

import gzip
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from botocore.credentials import Credentials
from google.protobuf.json_format import MessageToDict
from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import (
    ExportLogsServiceRequest,
    ExportLogsServiceResponse,
)
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue

from rehearsal.cloudwatch import signature
from rehearsal.cloudwatch.faults import Faults
from rehearsal.cloudwatch.signature import Signed

PATH = "/v1/logs"
_PROTOBUF = "application/x-protobuf"
_OLDEST, _NEWEST = timedelta(days=14), timedelta(hours=2)
_NANO = 10**9


@dataclass(frozen=True, kw_only=True)
class Kept:
    """One line that was taken.

    Attributes:
        time_ns: when it was written, in nanoseconds since 1970.
    """

    body: str
    time_ns: int
    resource: Mapping[str, Any]
    attributes: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What a client is told; `status` 0 is that the connection ends without an answer."""

    status: int
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    why: str = ""


class Endpoint:
    """One log group with its stream, written to by whoever has the credentials."""

    def __init__(
        self,
        group: str,
        streams: Sequence[str],
        region: str,
        credentials: Credentials,
        now: Callable[[], datetime],
        faults: Faults | None = None,
    ) -> None:
        self._group, self._streams, self._region = group, frozenset(streams), region
        self._credentials, self._now = credentials, now
        self._faults = faults or Faults()
        self._number = 0

    def answer(self, request: Signed) -> tuple[Answer, Sequence[Kept]]:
        """Return the answer to a request, and the lines that it brought and that are kept."""
        refused = self._refused(request)
        if refused is not None:
            return refused, ()
        self._number += 1
        fault = self._faults.draw(self._number)
        if fault in ("throttled", "unavailable"):
            status = 429 if fault == "throttled" else 503
            return Answer(status=status, headers={"Retry-After": str(self._faults.retry_after_s)}, why=fault), ()
        try:
            lines = list(_lines(_message(request)))
        except (DecodeError, OSError, zlib.error, EOFError) as error:
            return Answer(status=400, why=f"this is no OTLP: {error}"), ()
        kept = [line for line in lines if self._is_of_our_days(line)]
        if fault == "unanswered":
            return Answer(status=0, why=fault), kept
        said = ExportLogsServiceResponse()
        if len(kept) < len(lines):
            said.partial_success.rejected_log_records = len(lines) - len(kept)
            said.partial_success.error_message = "too old or too new"
        elif fault == "warned":
            said.partial_success.error_message = "a warning, of nothing that was rejected"
        return Answer(status=200, body=said.SerializeToString(), headers={"Content-Type": _PROTOBUF}), kept

    def _refused(self, request: Signed) -> Answer | None:
        headers = request.headers
        if request.method != "POST" or not request.url.endswith(PATH):
            return Answer(status=404, why=f"there is no {request.method} {request.url}")
        if headers.get("content-type") != _PROTOBUF or headers.get("content-encoding", "gzip") != "gzip":
            return Answer(status=400, why="it takes protobuf, compressed by gzip or not at all")
        try:
            signature.check(request, self._credentials, self._region, "logs", self._now())
        except signature.SignatureError as error:
            return Answer(status=403, why=str(error))
        if headers.get("x-aws-log-group") != self._group:
            return Answer(status=400, why="The specified log group does not exist.")
        if headers.get("x-aws-log-stream") not in self._streams:
            return Answer(status=400, why="The specified log stream does not exist.")
        return None

    def _is_of_our_days(self, line: Kept) -> bool:
        age = self._now().timestamp() - line.time_ns / _NANO
        return -_NEWEST.total_seconds() <= age <= _OLDEST.total_seconds()


def _message(request: Signed) -> ExportLogsServiceRequest:
    body = gzip.decompress(request.body) if "content-encoding" in request.headers else request.body
    found = ExportLogsServiceRequest()
    found.ParseFromString(body)
    return found


def _lines(message: ExportLogsServiceRequest) -> Iterator[Kept]:
    for of_resource in message.resource_logs:
        resource = _plain(of_resource.resource.attributes)
        for of_scope in of_resource.scope_logs:
            for record in of_scope.log_records:
                yield Kept(
                    body=record.body.string_value,
                    time_ns=record.time_unix_nano,
                    resource=resource,
                    attributes=_plain(record.attributes),
                )


def _plain(pairs: Sequence[KeyValue]) -> dict[str, Any]:
    return {pair.key: _value(pair.value) for pair in pairs}


def _value(value: AnyValue) -> Any:
    kind = value.WhichOneof("value")
    if kind in ("string_value", "bool_value", "int_value", "double_value"):
        return getattr(value, kind)
    return MessageToDict(value)
