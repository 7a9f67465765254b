"""A streamed completion: its request, and what its answer says once it has all arrived."""

import json
from itertools import pairwise
from typing import Any

from pydantic_core import from_json

from benchmark.connection import Exchange
from benchmark.sse import EventSplitter
from experiment.record import Failure, Figures, Reply, Stamps, Tokens

PATH = "/v1/completions"
NO_USAGE = "the stream ended without usage, so its tokens are not known"


def completion_body(model: str, prompt: list[int], output_tokens: int, *, ids: bool = False) -> bytes:
    """Return the JSON body that makes the server stream exactly `output_tokens` tokens and count them in each chunk."""
    return json.dumps(
        {
            "model": model,
            "prompt": prompt,
            "max_tokens": output_tokens,
            "min_tokens": output_tokens,
            "ignore_eos": True,
            "temperature": 0.0,
            "stream": True,
            "stream_options": {"include_usage": True, "continuous_usage_stats": True},
        }
        | ({"return_token_ids": True} if ids else {}),
        separators=(",", ":"),
    ).encode()


def read_answer(
    exchange: Exchange, output_tokens: int, prompt_tokens: int | None = None, due_s: float | None = None
) -> Reply | Failure:
    """Interpret a finished exchange; anything but a proper end and the tokens that were asked for is a failure.

    Args:
        exchange: what came.
        output_tokens: tokens that were asked for.
        prompt_tokens: tokens that were sent; a server that counts others did not get that prompt.
        due_s: when it was to be sent, by the clock of the exchange.
    """
    stream = _Stream()
    if exchange.error is None and exchange.status != 200:
        stream.error = f"the server answered {exchange.status}: {_excerpt(exchange.body)}"
    else:
        stream.read(exchange.arrivals)
    stamps = Stamps(
        due_s=due_s,
        sent_s=exchange.sent_s,
        headers_s=exchange.headers_s,
        chunks_s=tuple(stream.chunks_s),
        end_s=exchange.end_s,
    )
    error = exchange.error or stream.flaw(output_tokens, prompt_tokens)
    if error is not None or stream.tokens is None:
        return Failure(reason=error or NO_USAGE, status=exchange.status, stamps=stamps)
    return Reply(
        finish_reason=stream.finish_reason or "",
        tokens=stream.tokens.model_copy(update={"in_chunks": stream.in_chunks}),
        stamps=stamps,
        figures=Figures.of(stamps, stream.tokens.output),
    )


def token_ids(exchange: Exchange) -> list[int]:
    """Return the tokens of an answer that names them; nothing if it does not."""
    found: list[int] = []
    splitter = EventSplitter()
    for _, piece in exchange.arrivals:
        for event in splitter.feed(piece):
            try:
                choices = _parsed(event)["choices"]
                found += [int(token) for choice in choices for token in choice.get("token_ids") or ()]
            except (ValueError, TypeError, AttributeError, KeyError, RecursionError):
                continue
    return found


class _Stream:
    """The events of one answer, of `/v1/completions` or of chat."""

    def __init__(self) -> None:
        self.chunks_s: list[float] = []
        self.tokens: Tokens | None = None
        self.finish_reason: str | None = None
        self.done = False
        self.error: str | None = None
        self._usage: dict[str, Any] | None = None  # each chunk's says all that the ones before it said
        self._counts: list[int | None] = []
        self._made = 0

    @property
    def in_chunks(self) -> tuple[int, ...] | None:
        """Tokens of each chunk; none if not every chunk says how many there are by now, or they do not add up."""
        counts = [count for count in self._counts if count is not None]
        if self.tokens is None or len(counts) != len(self.chunks_s) or (counts and counts[-1] != self.tokens.output):
            return None
        grown = tuple(later - earlier for earlier, later in pairwise([0, *counts]))
        return None if any(count < 0 for count in grown) else grown

    def read(self, arrivals: list[tuple[float, bytes]]) -> None:
        splitter = EventSplitter()
        for at_s, piece in arrivals:
            for event in splitter.feed(piece):
                if event == b"[DONE]":
                    self.done = True
                    continue
                try:
                    self._event(at_s, _parsed(event))
                except (ValueError, TypeError, AttributeError, KeyError, RecursionError):
                    # ValueError covers broken JSON and refused counts; the others, JSON of another shape.
                    self.error = self.error or f"an event is no completion chunk: {_excerpt(event)}"
        try:
            self.tokens = _tokens(self._usage)
        except (ValueError, TypeError, AttributeError, KeyError):
            usage = _excerpt(json.dumps(self._usage).encode())
            self.error = self.error or f"an event is no completion chunk: its usage is {usage}"

    def flaw(self, output_tokens: int, prompt_tokens: int | None) -> str | None:
        """Say what is wrong with a stream that came to the end of its HTTP answer, if anything."""
        if self.error is not None:
            return self.error
        if self.tokens is None:
            return NO_USAGE
        if not self.done:
            return "the stream ended without [DONE]"
        if self.tokens.output != output_tokens:
            return f"asked for {output_tokens} tokens, got {self.tokens.output} (ended by {self.finish_reason})"
        if prompt_tokens is not None and self.tokens.prompt != prompt_tokens:
            return f"sent {prompt_tokens} tokens, the server counted {self.tokens.prompt}"
        return None if self.chunks_s else "the stream held no text"

    def _event(self, at_s: float, event: dict[str, Any]) -> None:
        if "error" in event:
            self.error = (
                self.error or f"the server broke the stream off: {_excerpt(json.dumps(event['error']).encode())}"
            )
            return
        usage = event.get("usage")
        made = None if not usage else int(usage["completion_tokens"])
        for choice in event["choices"]:
            if _says(choice) or (made is not None and made > self._made):
                self.chunks_s.append(at_s)
                self._counts.append(made)
                self._made = self._made if made is None else made
            if reason := choice.get("finish_reason"):
                reason.encode()  # a record is UTF-8 text: neither a number nor half of a character pair
                self.finish_reason = reason
        if usage:
            self._usage = usage


def _says(choice: dict[str, Any]) -> bool:
    """Say whether a chunk holds text, of a completion or of chat."""
    if choice.get("text"):
        return True
    delta = choice.get("delta")
    return bool(delta and (delta.get("content") or delta.get("reasoning") or delta.get("reasoning_content")))


def _tokens(usage: dict[str, Any] | None) -> Tokens | None:
    """Return what a server counted; none if it did not.

    Raises:
        ValueError, TypeError, AttributeError, KeyError: usage of another shape.
    """
    if usage is None:
        return None
    return Tokens(
        prompt=usage["prompt_tokens"],
        output=usage["completion_tokens"],
        cached=(usage.get("prompt_tokens_details") or {}).get("cached_tokens"),
    )


def _parsed(event: bytes) -> Any:
    """Return what an event says; pydantic's parser takes a third of the time that Python's does.

    Raises:
        ValueError: it is no JSON.
        RecursionError: it is nested too deep.
    """
    try:
        return from_json(event, cache_strings="keys")
    except ValueError:
        return json.loads(event)  # which knows halves of character pairs too


def _excerpt(body: bytes, limit: int = 300) -> str:
    text = " ".join(body.decode("utf-8", "replace").split())
    return f"{text[:limit]}..." if len(text) > limit else text or "(nothing)"
