import json
from pathlib import Path
from typing import Any

import pytest

from benchmark.completion import completion_body, read_answer
from benchmark.connection import Exchange
from experiment.record import Failure, Reply

RECORDINGS = Path(__file__).parents[1] / "data" / "vllm"


def recorded(name: str) -> list[bytes]:
    """The events of a recorded stream, each with its blank line."""
    text = (RECORDINGS / name).read_bytes().replace(b"\r\n", b"\n")
    return [event + b"\n\n" for event in text[text.index(b"data: ") :].split(b"\n\n") if event.strip()]


def exchange(events: list[bytes], first_s: float = 10.1, step_s: float = 0.5) -> Exchange:
    """Sent at 10.0; an event each step; ended with the last one."""
    arrivals = [(first_s + step_s * number, event) for number, event in enumerate(events)]
    return Exchange(
        sent_s=10.0, status=200, headers_s=10.05, arrivals=arrivals, end_s=arrivals[-1][0] if arrivals else 10.06
    )


def event(text: str, finish: str | None = None) -> bytes:
    return _sse({"choices": [{"text": text, "finish_reason": finish}]})


def usage(output: int, **more: Any) -> bytes:
    return _sse({"choices": [], "usage": {"prompt_tokens": 26, "completion_tokens": output} | more})


def _sse(value: dict[str, Any]) -> bytes:
    return b"data: " + json.dumps(value).encode() + b"\n\n"


DONE = b"data: [DONE]\n\n"


@pytest.mark.parametrize(("name", "tokens"), [("chat-stream.txt", 8), ("split-chat-stream.txt", 4)])
def test_a_recording_is_read_without_its_role_chunk_and_its_usage_chunk(name: str, tokens: int) -> None:
    answer = read_answer(exchange(recorded(name)), tokens)
    assert isinstance(answer, Reply)
    assert (answer.tokens.prompt, answer.tokens.output, answer.tokens.cached) == (26, tokens, None)
    assert answer.finish_reason == "length"
    # The role chunk came at 10.1 and is no token; the first token came at 10.6.
    assert answer.figures.ttft_s == pytest.approx(0.6)
    assert answer.figures.gaps_s == pytest.approx([0.5] * (tokens - 1))
    assert answer.figures.tpot_s == pytest.approx(0.5)
    assert answer.figures.itl_s == pytest.approx(0.5)
    assert answer.figures.e2e_s == pytest.approx(0.1 + 0.5 * (tokens + 2))
    assert answer.figures.tokens_per_s == pytest.approx(tokens / (0.1 + 0.5 * (tokens + 2)))


def test_a_stall_is_the_longest_gap_and_moves_the_mean_by_its_share() -> None:
    stream = exchange([event("a"), event("b"), event("c", "length"), usage(3), DONE], step_s=0.02)
    stream.arrivals[2:] = [(at_s + 1.0, data) for at_s, data in stream.arrivals[2:]]
    stream.end_s = stream.arrivals[-1][0]
    answer = read_answer(stream, 3)
    assert isinstance(answer, Reply)
    assert answer.figures.longest_gap_s == pytest.approx(1.02)
    assert answer.figures.itl_s == pytest.approx(0.52)


def test_several_tokens_in_one_chunk_count_by_usage_not_by_chunk() -> None:
    answer = read_answer(exchange([event("a"), event("bcd"), event("ef", "length"), usage(6), DONE]), 6)
    assert isinstance(answer, Reply)
    assert len(answer.stamps.chunks_s) == 3
    assert answer.figures.itl_s == pytest.approx(0.5)
    assert answer.figures.tpot_s == pytest.approx(1.0 / 5)


def test_two_chunks_of_one_read_share_its_stamp() -> None:
    answer = read_answer(exchange([event("a") + event("b"), event("c", "length"), usage(3), DONE]), 3)
    assert isinstance(answer, Reply)
    assert answer.figures.gaps_s == pytest.approx([0.0, 0.5])


def test_a_chunk_torn_over_two_reads_is_stamped_by_the_second() -> None:
    head, tail = event("a")[:20], event("a")[20:]
    answer = read_answer(exchange([head, tail, event("b", "length"), usage(2), DONE]), 2)
    assert isinstance(answer, Reply)
    assert answer.stamps.chunks_s == pytest.approx((10.6, 11.1))


def test_one_token_has_a_first_token_and_no_gap() -> None:
    answer = read_answer(exchange([event("a", "length"), usage(1), DONE]), 1)
    assert isinstance(answer, Reply)
    assert answer.figures.ttft_s == pytest.approx(0.1)
    assert (answer.figures.tpot_s, answer.figures.itl_s, answer.figures.longest_gap_s) == (None, None, None)


def test_cached_tokens_are_kept_where_the_server_tells_them() -> None:
    details = {"prompt_tokens_details": {"cached_tokens": 16}}
    answer = read_answer(exchange([event("a", "length"), usage(1, **details), DONE]), 1)
    assert isinstance(answer, Reply)
    assert answer.tokens.cached == 16


@pytest.mark.parametrize(
    ("events", "reason"),
    [
        ([event("a"), DONE], "the stream ended without usage, so its tokens are not known"),
        ([event("a"), usage(2)], "the stream ended without [DONE]"),
        ([event(""), usage(2), DONE], "the stream held no text"),
        ([event("a", "stop"), usage(1), DONE], "asked for 2 tokens, got 1 (ended by stop)"),
        ([event("a"), b"data: {\n\n", DONE], "an event is no completion chunk: {"),
        ([event("a"), b"data: " + b"[" * 100_000 + b"\n\n", DONE], "an event is no completion chunk: [["),
        ([_sse({"choices": [{"text": "a", "finish_reason": 7}]}), DONE], "an event is no completion chunk: "),
        ([_sse({"choices": [{"text": "a", "finish_reason": "\ud800"}]}), DONE], "an event is no completion chunk: "),
        ([event("a"), b"data: [1]\n\n", DONE], "an event is no completion chunk: [1]"),
        ([event("a"), b'data: {"choices": 3}\n\n', DONE], 'an event is no completion chunk: {"choices": 3}'),
        ([_sse({"error": {"code": 500}}), DONE], 'the server broke the stream off: {"code": 500}'),
        ([usage(-1), DONE], "an event is no completion chunk: "),
    ],
)
def test_a_stream_with_a_flaw_is_a_failure_that_names_it(events: list[bytes], reason: str) -> None:
    answer = read_answer(exchange(events), 2)
    assert isinstance(answer, Failure)
    assert answer.reason.startswith(reason)
    assert answer.stamps is not None
    assert answer.stamps.sent_s == 10.0


@pytest.mark.parametrize("name", ["err-model.txt", "err-too-long.txt"])
def test_a_recorded_error_is_passed_on_in_the_servers_words(name: str) -> None:
    head, _, body = (RECORDINGS / name).read_bytes().partition(b"\r\n\r\n")
    status = int(head.split()[1])
    stream = exchange([body])
    stream.status = status
    answer = read_answer(stream, 1)
    assert isinstance(answer, Failure)
    assert answer.status == status
    assert answer.reason.startswith(f"the server answered {status}: ")
    assert json.loads(body)["error"]["message"] in answer.reason


def test_an_exchange_that_broke_keeps_what_came_before() -> None:
    stream = exchange([event("a"), event("b")])
    stream.end_s, stream.error = None, "it broke"
    answer = read_answer(stream, 5)
    assert isinstance(answer, Failure)
    assert answer.reason == "it broke"
    assert answer.stamps is not None
    assert answer.stamps.chunks_s == pytest.approx((10.1, 10.6))


def test_the_request_fixes_the_length_and_asks_for_the_count() -> None:
    body = json.loads(completion_body("m", [1, 2], 200))
    assert body["max_tokens"] == body["min_tokens"] == 200
    assert body["ignore_eos"] is True
    assert body["stream_options"] == {"include_usage": True, "continuous_usage_stats": True}
    assert body["prompt"] == [1, 2]
