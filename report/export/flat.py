"""Records as flat tables: a row for each request, each repeat and each pod of a repeat, one value a column."""

import csv
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from typing import Any

from experiment.measure.load import LoadFigures
from experiment.measure.request import Failure, Reply, Request
from experiment.record import RepeatRecord
from report.idle import baselines, over_idle

Value = str | int | float | bool | None
Column = Callable[[Any], Value]


@dataclass(frozen=True)
class Flat:
    """A table.

    Attributes:
        name: of its file.
        types: type of each column, in order; any value may be missing.
        rows: one tuple each, in the order of the columns.
    """

    name: str
    types: Mapping[str, type]
    rows: Sequence[tuple[Value, ...]]

    def to_csv(self) -> str:
        """Return it as CSV (RFC 4180, but lines end in a line feed); a missing value is an empty field."""
        out = StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(self.types)
        writer.writerows(self.rows)
        return out.getvalue()

    def column(self, name: str) -> list[Value]:
        """Return one column's values, top to bottom."""
        place = list(self.types).index(name)
        return [row[place] for row in self.rows]


def tables(records: Iterable[RepeatRecord]) -> tuple[Flat, ...]:
    """Return the tables `repeats`, `requests` and `pods`; rows of one repeat agree in run, plan_hash, cell, repeat."""
    known = list(records)
    requests = [(record, request) for record in known for request in record.requests]
    return (
        _flat("repeats", (_KEY, _REPEAT), ((record, record) for record in known)),
        _flat("requests", (_KEY, _REQUEST), requests),
        _flat("pods", (_KEY, _POD, _USE, _OVER_IDLE), _pods(known)),
    )


Columns = Mapping[str, tuple[type, Column]]


def _flat(name: str, parts: Sequence[Columns], items: Iterable[Sequence[Any]]) -> Flat:
    """Make a table whose columns are in parts; each part is taken of one member of an item."""
    types = {column: kind for part in parts for column, (kind, _) in part.items()}
    rows = [
        tuple(take(one) for part, one in zip(parts, item, strict=True) for _, take in part.values()) for item in items
    ]
    return Flat(name, types, rows)


def _pods(records: Sequence[RepeatRecord]) -> Iterator[Sequence[Any]]:
    idle = baselines(records)
    for record in records:
        pods = {pod.name: pod for pod in record.pods.pods}
        over = {use.pod: use for use in over_idle(record, idle)}
        for use in record.figures.pods:
            yield record, pods[use.pod], use, over.get(use.pod)


def _field(kind: type, path: str) -> tuple[type, Column]:
    """Take what a dotted path leads to; missing where a step of it is."""

    def take(item: Any) -> Value:
        for step in path.split("."):
            if item is None:
                return None
            item = getattr(item, step)
        return kind(item) if item is not None else None

    return kind, take


def _fields(kind: type, paths: Iterable[str], under: str = "") -> dict[str, tuple[type, Column]]:
    return {path.replace(".", "_"): _field(kind, f"{under}{path}") for path in paths}


def _load(record: RepeatRecord) -> LoadFigures | None:
    return record.figures.load


def _reply(request: Request) -> Reply | None:
    return request.outcome if isinstance(request.outcome, Reply) else None


def _of_reply(kind: type, path: str) -> tuple[type, Column]:
    _, take = _field(kind, path)
    return kind, lambda request: take(_reply(request))


def _stamps(path: str, place: int | None = None) -> tuple[type, Column]:
    def take(request: Request) -> Value:
        stamps = request.outcome.stamps
        found = getattr(stamps, path) if stamps is not None else None
        if place is None or found is None:
            return None if found is None else float(found)
        return float(found[place]) if found else None

    return float, take


def _failure(path: str, kind: type) -> tuple[type, Column]:
    return kind, lambda one: getattr(one.outcome, path) if isinstance(one.outcome, Failure) else None


_KEY: Columns = {
    **_fields(str, ("run", "plan_hash", "test", "test_kind", "cell")),
    "value": (str, lambda record: None if record.value is None else str(record.value)),
    **_fields(int, ("repeat",)),
    **_fields(str, ("result",)),
    "simulated": _field(bool, "engine.simulated"),
    "disturbed": (bool, lambda record: bool(record.disturbed)),
    "client_limited": _field(bool, "verdict.client_limited"),
    "topology": (str, lambda record: None if record.topology is None else json.dumps(record.topology)),
}
_REPEAT: Columns = {
    "started_at": (str, lambda record: record.started_at.isoformat()),
    "why": _field(str, "why"),
    "model": _field(str, "engine.model"),
    "engine_version": _field(str, "engine.version"),
    "client_host": _field(str, "client.host"),
    "shape_hash": _field(str, "prompt.shape_hash"),
    **_fields(int, ("requests", "failed", "output_tokens"), "figures.load."),
    **_fields(
        float,
        (
            "span_s", "tokens_per_s", "steady_tokens_per_s", "requests_per_s",
            *(f"{name}.{part}" for name in ("ttft_s", "tpot_s", "gaps_s", "effective_s")
              for part in ("mean", "p50", "p90", "p99", "max")),
        ),
        "figures.load.",
    ),
    "steps_per_token": _field(float, "figures.steps.steps_per_token"),
    "mode": _field(str, "figures.steps.mode"),
    **_fields(float, ("baseline_gap_s", "stall_s", "slowed_s", "long_ttft_s"), "figures.interference."),
    **_fields(float, ("warm_ttft_s", "cold_ttft_s", "warm_hits", "cold_hits"), "figures.follow_up."),
    "goodput_share": _field(float, "figures.goodput.share"),
    "goodput_tokens_per_s": _field(float, "figures.goodput.tokens_per_s"),
    "drift_s_per_hour": _field(float, "figures.drift.slope_s_per_hour"),
    "drift_error_s_per_hour": _field(float, "figures.drift.error_s_per_hour"),
    **_fields(float, ("silent_s", "full_speed_s", "still_silent_s"), "figures.outage."),
    "why_disturbed": (str, lambda record: "; ".join(record.disturbed) or None),
}  # fmt: skip
_REQUEST: Columns = {
    **_fields(str, ("id",)),
    **_fields(int, ("user",)),
    **_fields(str, ("role",)),
    **_fields(int, ("connection",)),
    **_fields(str, ("address", "served_by")),
    "ok": (bool, lambda request: _reply(request) is not None),
    "failure": _failure("reason", str),
    "status": _failure("status", int),
    "finish_reason": _of_reply(str, "finish_reason"),
    "prompt_tokens": _field(int, "prompt.prompt_tokens"),
    "output_tokens": _of_reply(int, "tokens.output"),
    "cached_tokens": _of_reply(int, "tokens.cached"),
    "prefix_queries": _field(float, "prefix.queries"),
    "prefix_hits": _field(float, "prefix.hits"),
    "due_s": _stamps("due_s"),
    "sent_s": _stamps("sent_s"),
    "headers_s": _stamps("headers_s"),
    "first_chunk_s": _stamps("chunks_s", 0),
    "last_chunk_s": _stamps("chunks_s", -1),
    "end_s": _stamps("end_s"),
    "chunks": (int, lambda request: 0 if request.outcome.stamps is None else len(request.outcome.stamps.chunks_s)),
    **{
        name: _of_reply(float, f"figures.{name}")
        for name in ("ttft_s", "itl_s", "tpot_s", "longest_gap_s", "e2e_s", "effective_s", "tokens_per_s")
    },
}
_POD: Columns = _fields(str, ("role", "node", "instance_type", "image_id"))
_USE: Columns = {
    **_fields(str, ("pod",)),
    **_fields(float, ("seconds", "cpu_s", "agent_cpu_s", "throttled_share", "throttled_s")),
    **_fields(int, ("sent_bytes", "received_bytes", "sent_packets", "received_packets")),
    **_fields(float, ("cpu_per_token_s", "sent_bytes_per_token")),
}
_OVER_IDLE: Columns = {f"{name}_over_idle": _field(float, name) for name in ("cpu_per_token_s", "sent_bytes_per_token")}
