"""Headers, and what the HTTP metrics count: as of a real vLLM 0.31.0."""

import asyncio
import re
from collections.abc import Sequence

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


async def test_a_stream_that_its_client_leaves_is_counted_as_answered(start: Start) -> None:
    running = await start(SPLITBED_STANDIN_PARAMETERS='{"step_s": 0.02}')
    body = b'{"prompt": "a", "max_tokens": 4000, "ignore_eos": true, "stream": true}'
    left = await ask(running.port, Question("left", "POST", "/v1/completions", body, hang_up_after=2))
    assert not left.whole
    await asyncio.wait_for(running.server.engine.drained(), 30)
    await asyncio.sleep(0)
    assert await counted(running) == ['{handler="/v1/completions",method="POST",status="2xx"} 1.0']
