"""What no client should send: each gets vLLM's answer, the log gets no traceback, and the server lives."""

import asyncio
import logging
import random
from contextlib import suppress

import pytest

from rehearsal.vllm.known import judge, known
from rehearsal.vllm.likeness import compare, load, observe
from rehearsal.vllm.malformed import malformed
from rehearsal.vllm.questions import odd_rounds
from rehearsal.vllm.server import SERVED_NAME
from rehearsal.vllm.wire import CLOSED, SILENT, Question, ask
from tests.rehearsal.engine.conftest import RECORDINGS, Running, Start
from tests.vllm.conftest import FLAGS

SETTLE_S = 0.002

GENERATE = b'{"prompt":"one two","max_tokens":400,"ignore_eos":true,"stream":true}'
STREAM = (
    b"POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    b"Content-Length: %d\r\n\r\n%s" % (len(GENERATE), GENERATE)
)


async def lives(running: Running, caplog: pytest.LogCaptureFixture) -> None:
    """Nothing was left behind, nothing was logged with a traceback, and the server answers."""
    await asyncio.wait_for(running.server.engine.drained(), 30)
    assert (await ask(running.port, Question("health", "GET", "/health"))).status == "HTTP/1.1 200 OK"
    assert running.server.engine.core.unfinished == 0
    assert [record.getMessage() for record in caplog.records if record.exc_info] == []
    assert "Traceback" not in caplog.text


@pytest.mark.thorough
async def test_malformed_requests_are_answered_as_vllm_was_recorded(
    start: Start, caplog: pytest.LogCaptureFixture
) -> None:
    """The offline form of `tests/vllm/test_likeness.py`; `docs/engines` says how the recordings are renewed."""
    caplog.set_level(logging.DEBUG, "vllm")
    running = await start(*FLAGS, f"--served-model-name={SERVED_NAME}")
    seen = await observe(running.port, odd_rounds(), SETTLE_S)
    recorded = load(RECORDINGS / "answers-malformed.json")
    assert len({facet.question for facet in recorded}) > 100
    # Which metrics there are is compared in `test_likeness`.
    differences = [one for one in compare(recorded, seen) if one.question != "metrics"]
    told = "\n\n".join(difference.text() for difference in judge(differences, known()).unexplained)
    assert not told, told
    await lives(running, caplog)


@pytest.mark.parametrize(
    "raw", [b"GARBAGE\r\n\r\n", b"GET /health HTTP/9.9\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\r\n\r\n"]
)
async def test_what_is_no_http_is_answered_as_uvicorn_does(raw: bytes, start: Start) -> None:
    running = await start()
    answer = await ask(running.port, Question("no HTTP", "RAW", "", raw))
    assert answer.status == "HTTP/1.1 400 Bad Request"
    assert [name for name, _ in answer.headers] == ["date", "server", "content-type", "content-length", "connection"]
    assert answer.body == b"Invalid HTTP request received."


async def test_a_request_whose_body_turns_out_to_be_no_http_is_answered_and_counted(start: Start) -> None:
    running = await start()
    reader, writer = await asyncio.open_connection("127.0.0.1", running.port)
    head = b"POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nExpect: 100-continue\r\n"
    writer.write(head + b"Transfer-Encoding: chunked\r\n\r\n")
    assert await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 30) == b"HTTP/1.1 100 Continue\r\n\r\n"
    writer.write(b"1\r\n{\r\nzz\r\n}\r\n0\r\n\r\n")
    answer = await asyncio.wait_for(reader.read(), 30)
    assert answer.startswith(b"HTTP/1.1 400 Bad Request\r\n")
    assert answer.endswith(b"Invalid HTTP request received.")
    writer.close()
    counted = (await ask(running.port, Question("metrics", "GET", "/metrics"))).body.decode()
    assert 'http_requests_total{handler="/v1/completions",method="POST",status="4xx"} 1.0' in counted


async def test_a_body_beyond_the_limit_is_refused(start: Start, caplog: pytest.LogCaptureFixture) -> None:
    running = await start()
    head = b"POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    reader, writer = await asyncio.open_connection("127.0.0.1", running.port)
    writer.write(head + b"Content-Length: 80000000\r\n\r\n")
    with suppress(OSError):
        for _ in range(80):
            writer.write(b" " * 1_000_000)
            await writer.drain()
    answer = await asyncio.wait_for(reader.readuntil(b"\r\n"), 30)
    assert answer == b"HTTP/1.1 413 Request Entity Too Large\r\n"
    writer.close()
    await lives(running, caplog)


async def test_clients_that_leave_at_any_byte(start: Start, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "vllm")
    running = await start(SPLITBED_STANDIN_PARAMETERS='{"step_s": 0.002, "end_of_text": 0}')
    for cut in (0, 1, 10, 30, 60, 100, len(STREAM) - 20, len(STREAM) - 1, len(STREAM)):
        for abrupt in (False, True):
            reader, writer = await asyncio.open_connection("127.0.0.1", running.port)
            writer.write(STREAM[:cut])
            await writer.drain()
            if cut == len(STREAM):
                await reader.readuntil(b"data: ")
            if abrupt:
                writer.transport.abort()
            writer.close()
    await lives(running, caplog)


@pytest.mark.parametrize("seed", range(4))
async def test_bytes_flipped_at_random(seed: int, start: Start, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "vllm")
    dice = random.Random(seed)  # noqa: S311
    body = (
        b'{"prompt":"one two","max_tokens":4,"ignore_eos":true,"stream":true,"stream_options":{"include_usage":true}}'
    )
    request = b"POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    request += b"Content-Length: %d\r\n\r\n%s" % (len(body), body)
    running = await start()
    for _ in range(60):
        spoilt = bytearray(request)
        for _ in range(dice.randrange(1, 6)):
            spoilt[dice.randrange(len(spoilt))] = dice.randrange(256)
        reader, writer = await asyncio.open_connection("127.0.0.1", running.port)
        writer.write(spoilt)
        writer.write_eof()  # a spoilt length may announce more than there is
        with suppress(OSError):
            answer = await asyncio.wait_for(reader.read(), 30)
            assert answer[:9] in (b"", b"HTTP/1.1 "), (bytes(spoilt), answer)
            assert b" 500 " not in answer[:40], (bytes(spoilt), answer)
        writer.close()
    await lives(running, caplog)


def test_malformed_requests_have_names_of_their_own() -> None:
    names = [question.name for question in malformed()]
    assert len(set(names)) == len(names) > 100
    assert {CLOSED, SILENT}.isdisjoint(names)
