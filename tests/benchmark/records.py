"""Records as the client writes them, for tests that need no server."""

from datetime import UTC, datetime
from itertools import accumulate
from typing import Any

from experiment.measure.counters import Counters
from experiment.measure.figures import TestFigures
from experiment.measure.load import LoadFigures
from experiment.record import (
    Client,
    Engine,
    Failure,
    Figures,
    PromptShape,
    RepeatRecord,
    Reply,
    Request,
    SessionRecord,
    Stamps,
    Tokens,
)

ENGINE = Engine(url="http://e:8000", model="org/model", version="0.31.0", simulated=True, standin={"profile": "quick"})
REAL = ENGINE.model_copy(update={"simulated": False, "standin": None})
CLIENT = Client(pod="p", node="n", host="h")
SHAPE = PromptShape(prompt_tokens=64, nonce_tokens=8, output_tokens=200, shape_hash="abc")
WHEN = datetime(2026, 11, 30, tzinfo=UTC)


def reply(ttft_s: float = 0.5, gaps_s: tuple[float, ...] = (0.25, 0.5), tail_s: float = 0.0) -> Reply:
    """One token a chunk, sent at 1000.0; binary fractions, so that sums are exact."""
    chunks_s = tuple(accumulate(gaps_s, initial=1000.0 + ttft_s))
    stamps = Stamps(sent_s=1000.0, headers_s=1000.0, chunks_s=chunks_s, end_s=chunks_s[-1] + tail_s)
    tokens = Tokens(prompt=64, output=len(chunks_s), cached=None)
    return Reply(finish_reason="length", tokens=tokens, stamps=stamps, figures=Figures.of(stamps, tokens.output))


def request(outcome: Reply | Failure | None = None, **changes: Any) -> Request:
    fields: dict[str, Any] = {"id": "5ca1ab1e", "user": 0, "connection": 1, "address": "http://e:8000", "prompt": SHAPE}
    return Request.model_validate(fields | {"outcome": outcome or reply()} | changes)


def repeat(number: int, outcome: Reply | Failure | None = None, **changes: Any) -> RepeatRecord:
    """One request a repeat, as `one-user` has."""
    failed = isinstance(outcome, Failure)
    requests = (request(outcome),)
    fields: dict[str, Any] = {
        "run": "1",
        "plan_hash": "0123456789ab",
        "test": "one-user",
        "test_kind": "one-user",
        "cell": "one-user",
        "value": None,
        "result": "failed" if failed else "finished",
        "why": outcome.reason if isinstance(outcome, Failure) else "",
        "repeat": number,
        "started_at": WHEN,
        "prompt": SHAPE,
        "prompt_ids": "assumed",
        "topology": {"kind": "split", "pipeline": 2},
        "engine": ENGINE,
        "client": CLIENT,
        "requests": requests,
        "figures": TestFigures(load=LoadFigures.of(requests)),
        "counters": Counters(unknown="there is no server"),
        "verdict": None,
    }
    return RepeatRecord.model_validate(fields | changes)


def failure(reason: str = "it broke") -> Failure:
    return Failure(reason=reason, status=500, stamps=None)


def session() -> SessionRecord:
    return SessionRecord(
        run="1",
        plan_hash="0123456789ab",
        started_at=WHEN,
        ended_at=WHEN,
        exit_code=0,
        ending="complete",
        measured=1,
        failed=0,
        client=CLIENT,
    )
