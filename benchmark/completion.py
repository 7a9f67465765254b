"""A streamed completion: its request, and what its answer says once it has all arrived."""

import json
from typing import Any

from benchmark.connection import Exchange
from benchmark.sse import EventSplitter
from experiment.record import Failure, Figures, Reply, Stamps, Tokens

PATH = "/v1/completions"
NO_USAGE = "the stream ended without usage, so its tokens are not known"


def completion_body(model: str, prompt: list[int], output_tokens: int) -> bytes:
    """Return the JSON body that makes the server stream exactly `output_tokens` tokens and count them."""
    return json.dumps(
        {
            "model": model,
            "prompt": prompt,
            "max_tokens": output_tokens,
            "min_tokens": output_tokens,
            "ignore_eos": True,
            "temperature": 0.0,
            "stream": True,
            "stream_options": {"include_usage": True},
        },
        separators=(",", ":"),
    ).encode()


def read_answer(exchange: Exchange, output_tokens: int) -> Reply | Failure:
    """Interpret a finished exchange; anything but `output_tokens` tokens and a proper end is a failure."""
    stream = _Stream()
    if exchange.error is None and exchange.status != 200:
        stream.error = f"the server answered {exchange.status}: {_excerpt(exchange.body)}"
    else:
        stream.read(exchange.arrivals)
    stamps = Stamps(
        sent_s=exchange.sent_s,
        headers_s=exchange.headers_s,
        chunks_s=tuple(stream.chunks_s),
        end_s=exchange.end_s,
    )
    error = exchange.error or stream.flaw(output_tokens)
    if error is not None or stream.tokens is None:
        return Failure(reason=error or NO_USAGE, status=exchange.status, stamps=stamps)
    return Reply(
        finish_reason=stream.finish_reason or "",
        tokens=stream.tokens,
        stamps=stamps,
        figures=Figures.of(stamps, stream.tokens.output),
    )


class _Stream:
    """The events of one answer, of `/v1/completions` or of chat."""

    def __init__(self) -> None:
        self.chunks_s: list[float] = []
        self.tokens: Tokens | None = None
        self.finish_reason: str | None = None
        self.done = False
        self.error: str | None = None

    def read(self, arrivals: list[tuple[float, bytes]]) -> None:
        splitter = EventSplitter()
        for at_s, piece in arrivals:
            for event in splitter.feed(piece):
                if event == b"[DONE]":
                    self.done = True
                    continue
                try:
                    self._event(at_s, json.loads(event))
                except (ValueError, TypeError, AttributeError, KeyError, RecursionError):
                    # ValueError covers broken JSON and refused counts; the others, JSON of another shape.
                    self.error = self.error or f"an event is no completion chunk: {_excerpt(event)}"

    def flaw(self, output_tokens: int) -> str | None:
        """Say what is wrong with a stream that came to the end of its HTTP answer, if anything."""
        if self.error is not None:
            return self.error
        if self.tokens is None:
            return NO_USAGE
        if not self.done:
            return "the stream ended without [DONE]"
        if self.tokens.output != output_tokens:
            return f"asked for {output_tokens} tokens, got {self.tokens.output} (ended by {self.finish_reason})"
        return None if self.chunks_s else "the stream held no text"

    def _event(self, at_s: float, event: dict[str, Any]) -> None:
        if "error" in event:
            self.error = (
                self.error or f"the server broke the stream off: {_excerpt(json.dumps(event['error']).encode())}"
            )
            return
        for choice in event["choices"]:
            delta = choice.get("delta") or {}
            if choice.get("text") or delta.get("content") or delta.get("reasoning") or delta.get("reasoning_content"):
                self.chunks_s.append(at_s)
            if reason := choice.get("finish_reason"):
                reason.encode()  # a record is UTF-8 text: neither a number nor half of a character pair
                self.finish_reason = reason
        usage = event.get("usage")
        if usage:
            self.tokens = Tokens(
                prompt=usage["prompt_tokens"],
                output=usage["completion_tokens"],
                cached=(usage.get("prompt_tokens_details") or {}).get("cached_tokens"),
            )


def _excerpt(body: bytes, limit: int = 300) -> str:
    text = " ".join(body.decode("utf-8", "replace").split())
    return f"{text[:limit]}..." if len(text) > limit else text or "(nothing)"
