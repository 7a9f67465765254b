import asyncio
import re
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import pytest

from benchmark import endpoint
from benchmark.completion import completion_body
from benchmark.connection import Exchange
from benchmark.endpoint import Endpoint, UrlError, json_object
from experiment.record import Reply
from tests.benchmark.server import MODEL, Server


@asynccontextmanager
async def listening(answer: bytes, seen: list[bytes]) -> AsyncIterator[str]:
    """A server that gives every request one answer and then closes."""

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            seen.append(await reader.readuntil(b"\r\n\r\n"))
            writer.write(answer)
            await writer.drain()
        except asyncio.IncompleteReadError as error:
            seen.append(error.partial)
        writer.close()

    async with await asyncio.start_server(accept, "127.0.0.1", 0) as server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


OK = b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{}"


async def test_a_path_of_the_url_stands_before_every_path() -> None:
    seen: list[bytes] = []
    async with listening(OK, seen) as url:
        exchange = await Endpoint(f"{url}/proxy/", time.monotonic).ask("/version")
    assert json_object(exchange) == {}
    assert seen[0].startswith(b"GET /proxy/version HTTP/1.1\r\nHost: 127.0.0.1:")


async def test_a_server_that_keeps_no_connection_gets_a_fresh_one_for_the_request() -> None:
    seen: list[bytes] = []
    async with listening(OK, seen) as url:
        connection = await Endpoint(url, time.monotonic).open(5)
        assert connection.is_open
        await connection.exchange(b"GET /second HTTP/1.1\r\n\r\n", 5)
        connection.abort()
    assert [head.split(b" ")[1] for head in seen] == [b"/health", b"/second"]


async def test_a_server_that_closes_without_a_word_gets_a_fresh_one_too() -> None:
    seen: list[bytes] = []
    async with listening(OK.replace(b"connection: close\r\n", b""), seen) as url:
        connection = await Endpoint(url, time.monotonic).open(5)
        exchange = await connection.exchange(b"GET /second HTTP/1.1\r\n\r\n", 5)
        connection.abort()
    assert exchange.error is None
    assert [head.split(b" ")[1] for head in seen] == [b"/health", b"/second"]


async def test_an_opening_that_is_given_up_leaves_no_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    ended = asyncio.Event()

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(OK.replace(b"connection: close\r\n", b""))
        with suppress(ConnectionError):  # an abort, not a good-bye
            assert await reader.read() == b""
        writer.close()
        ended.set()

    monkeypatch.setattr(endpoint, "_SETTLING_S", 60)  # it is given up while the answered connection settles
    async with await asyncio.start_server(accept, "127.0.0.1", 0) as server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2):
                await Endpoint(url, time.monotonic).open(5)
        await asyncio.wait_for(ended.wait(), 10)


async def test_a_completion_goes_over_the_connection_that_was_opened_for_it(server: Server) -> None:
    engine = Endpoint(server.url, time.monotonic)
    connection = await engine.open(5)
    opened_s = time.monotonic()
    answer = await engine.complete(connection, MODEL, [5, 6], 20, 20)
    connection.abort()
    assert isinstance(answer, Reply)
    assert answer.stamps.sent_s >= opened_s
    assert len(answer.stamps.chunks_s) == 20
    assert server.completions[0]["prompt"] == [5, 6]


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b"\xff"])
def test_what_is_no_json_object_is_none(body: bytes) -> None:
    assert json_object(Exchange(sent_s=0, arrivals=[(0, body)])) is None


@pytest.mark.parametrize(
    "url",
    [
        "h:1",
        "http://",
        "http://a:b",
        "http://h?x",
        "unix:///x",
        "http://h/a b",
        "http://ä",
        "http://h/\n",
    ],
)
def test_a_url_that_cannot_be_asked_is_refused(url: str) -> None:
    with pytest.raises(UrlError, match=re.escape(f"--url {url}")):
        Endpoint(url, time.monotonic)


@pytest.mark.parametrize("url", ["http://me:sk-abc@h:1/x", "me:sk-abc@h", "http://me:sk-/abc@h", "http://sk-abc@h:x"])
def test_a_password_in_a_refused_url_is_not_repeated(url: str) -> None:
    with pytest.raises(UrlError) as error:
        Endpoint(url, time.monotonic)
    assert "abc" not in str(error.value)
    assert "@h" in str(error.value)


def test_the_length_header_counts_bytes() -> None:
    request = Endpoint("http://h:1", time.monotonic)._request("POST", "/x", completion_body("mödel", [1], 2))
    head, _, body = request.partition(b"\r\n\r\n")
    assert f"Content-Length: {len(body)}".encode() in head


@pytest.mark.parametrize("body", [b"", b"3", b"{", b"\xff", b"[" * 100_000])
def test_a_body_that_is_no_object_is_none(body: bytes) -> None:
    assert json_object(Exchange(sent_s=0.0, arrivals=[(1.0, body)])) is None
