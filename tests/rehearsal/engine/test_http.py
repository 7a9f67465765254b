"""Headers, and what the HTTP metrics count: as of a real vLLM 0.31.0."""

import asyncio
import re
from collections.abc import Sequence

import pytest
from aiohttp import ClientSession

from rehearsal.vllm.wire import Answer, Question, ask
from tests.rehearsal.engine.conftest import Running, Start


async def counted(running: Running) -> list[str]:
    """Return the series of the HTTP requests that were counted, without metrics."""
    async with ClientSession() as client, client.get(f"{running.url}/metrics") as answer:
        return re.findall(r"^http_requests_total(\{.*\} .*)$", await answer.text(), flags=re.MULTILINE)


async def asked(running: Running, method: str, path: str, headers: Sequence[tuple[str, str]] = ()) -> Answer:
    return await ask(running.port, Question("one", method, path, headers=headers))


def names(answer: Answer) -> list[str]:
    return [name for name, _ in answer.headers]


async def test_a_wrong_method_is_told_the_right_ones_before_the_length(start: Start) -> None:
    running = await start()
    for method, path, allowed in (("GET", "/v1/completions", "POST"), ("HEAD", "/health", "GET")):
        answer = await asked(running, method, path)
        assert answer.status == "HTTP/1.1 405 Method Not Allowed"
        assert names(answer) == ["date", "server", "allow", "content-length", "content-type", "vary"]
        assert dict(answer.headers)["allow"] == allowed


async def test_a_path_that_is_not_counted_is_not_counted_with_a_wrong_method_either(start: Start) -> None:
    running = await start()
    await asked(running, "HEAD", "/health")
    await asked(running, "GET", "/v1/metrics/of/nothing")
    assert await counted(running) == []
    await asked(running, "HEAD", "/v1/models")
    assert await counted(running) == ['{handler="none",method="HEAD",status="4xx"} 1.0']


async def test_a_missing_key_is_refused_before_everything_else(start: Start) -> None:
    running = await start("--api-key", "secret")
    answer = await asked(running, "GET", "/v1/models", [("Origin", "http://example.invalid")])
    assert answer.status == "HTTP/1.1 401 Unauthorized"
    assert answer.body == b'{"error":"Unauthorized"}'
    assert names(answer) == ["date", "server", "content-length", "content-type"]
    assert await counted(running) == []
    await asked(running, "GET", "/v1/models", [("Authorization", "Bearer secret")])
    assert await counted(running) == ['{handler="/v1/models",method="GET",status="2xx"} 1.0']


@pytest.mark.parametrize("copies", [1, 2])
async def test_a_stream_that_its_client_leaves_is_counted_as_answered(
    copies: int, start: Start, caplog: pytest.LogCaptureFixture
) -> None:
    running = await start(SPLITBED_STANDIN_PARAMETERS='{"step_s": 0.02}')
    body = b'{"prompt": "a", "max_tokens": 4000, "ignore_eos": true, "stream": true, "n": %d}' % copies
    left = await ask(running.port, Question("left", "POST", "/v1/completions", body, hang_up_after=2))
    assert not left.whole
    await asyncio.wait_for(running.server.engine.drained(), 30)
    await asyncio.sleep(0)
    assert await counted(running) == ['{handler="/v1/completions",method="POST",status="2xx"} 1.0']
    assert caplog.records == []


@pytest.mark.parametrize("copies", [1, 2])
async def test_a_death_is_told_to_requests_of_one_sequence_and_of_several(copies: int, start: Start) -> None:
    running = await start(SPLITBED_STANDIN_PARAMETERS='{"step_s": 0.02}')
    body = b'{"prompt": "a", "max_tokens": 4000, "ignore_eos": true, "n": %d}' % copies
    waiting = asyncio.create_task(ask(running.port, Question("left", "POST", "/v1/completions", body)))
    async with asyncio.timeout(30):
        while running.server.engine.core.unfinished < copies:
            await asked(running, "GET", "/health")
    running.server.engine.die()
    answer = await asyncio.wait_for(waiting, 30)
    assert answer.status == "HTTP/1.1 500 Internal Server Error"
    assert b"EngineCore encountered an issue." in answer.body


async def test_a_client_that_leaves_before_its_body_is_sent_is_counted_as_refused(start: Start) -> None:
    running = await start()
    reader, writer = await asyncio.open_connection("127.0.0.1", running.port)
    head = "POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nExpect: 100-continue\r\n"
    writer.write(f"{head}Content-Length: 50\r\n\r\n".encode())
    await reader.readuntil(b"\r\n\r\n")
    writer.close()
    series = '{handler="/v1/completions",method="POST",status="4xx"} 1.0'
    async with asyncio.timeout(30):
        while await counted(running) != [series]:
            pass


async def test_a_slash_too_many_is_redirected_and_counted_by_its_own_path(start: Start) -> None:
    running = await start()
    for method, path, location in (
        ("POST", "/v1/completions/", "/v1/completions"),
        ("GET", "/v1/completions/", "/v1/completions"),
        ("GET", "/v1/models//?a=1", "/v1/models?a=1"),
    ):
        answer = await asked(running, method, path)
        assert answer.status == "HTTP/1.1 307 Temporary Redirect"
        assert names(answer) == ["date", "server", "content-length", "location", "vary"]
        assert dict(answer.headers)["location"] == f"http://127.0.0.1:{running.port}{location}"
    assert (await asked(running, "GET", "/nowhere/")).status == "HTTP/1.1 404 Not Found"
    assert sorted(await counted(running)) == [
        '{handler="/v1/completions/",method="POST",status="3xx"} 1.0',
        '{handler="none",method="GET",status="3xx"} 2.0',
        '{handler="none",method="GET",status="4xx"} 1.0',
    ]


@pytest.mark.parametrize(
    ("headers", "status", "body"),
    [
        ((), "200 OK", b"OK"),
        ((("Access-Control-Request-Headers", "x-a, x-b"),), "200 OK", b"OK"),
        ((("Access-Control-Request-Method", "MOON"),), "400 Bad Request", b"Disallowed CORS method"),
        ((("Access-Control-Request-Private-Network", "true"),), "400 Bad Request", b"Disallowed CORS private-network"),
    ],
)
async def test_a_preflight_needs_no_key_and_no_route(
    headers: Sequence[tuple[str, str]], status: str, body: bytes, start: Start
) -> None:
    running = await start("--api-key", "secret")
    sent = {"Origin": "http://example.invalid", "Access-Control-Request-Method": "POST", **dict(headers)}
    answer = await asked(running, "OPTIONS", "/v1/nowhere", list(sent.items()))
    assert (answer.status, answer.body) == (f"HTTP/1.1 {status}", body)
    allowed = dict(answer.headers).get("access-control-allow-headers")
    assert allowed == sent.get("Access-Control-Request-Headers")
    assert names(answer)[-2:] == ["content-length", "content-type"]
    assert await counted(running) == []


async def test_http_1_0_is_answered_in_1_1_chunks_and_all(start: Start) -> None:
    running = await start()
    body = b'{"prompt": "a", "max_tokens": 2, "ignore_eos": true, "stream": true}'
    head = b"POST /v1/completions HTTP/1.0\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body)
    answer = await ask(running.port, Question("old", "RAW", "", head + body))
    assert answer.status == "HTTP/1.1 200 OK"
    assert names(answer) == ["date", "server", "content-type", "vary", "connection", "transfer-encoding"]
    assert answer.body.endswith(b"data: [DONE]\n\n")
