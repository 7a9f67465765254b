import asyncio
from typing import cast

import pytest

from benchmark.connection import Connection, Exchange

HEADERS = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


class Wire(asyncio.Transport):
    """A transport in memory with a clock beside it."""

    def __init__(self) -> None:
        super().__init__()
        self.now_s = 100.0
        self.written = b""
        self.closing = False
        self.connection = Connection(lambda: self.now_s)
        self.connection.connection_made(self)

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.written += bytes(data)

    def is_closing(self) -> bool:
        return self.closing

    def abort(self) -> None:
        self.close()

    def close(self) -> None:
        if not self.closing:
            self.closing = True
            self.connection.connection_lost(None)

    def deliver(self, at_s: float, data: bytes) -> None:
        self.now_s = at_s
        self.connection.data_received(data)

    async def send(self, timeout_s: float = 60) -> "asyncio.Task[Exchange]":
        task = asyncio.create_task(self.connection.exchange(b"GET / HTTP/1.1\r\n\r\n", timeout_s))
        await asyncio.sleep(0)
        return task


async def test_each_read_is_stamped_when_it_comes_not_when_it_is_parsed() -> None:
    wire = Wire()
    task = await wire.send()
    wire.deliver(100.5, HEADERS)
    wire.deliver(101.0, b"3\r\nab")
    wire.deliver(101.25, b"c\r\n2\r\nde\r\n")
    wire.deliver(102.0, b"0\r\n\r\n")
    exchange = await task
    assert wire.written == b"GET / HTTP/1.1\r\n\r\n"
    assert (exchange.sent_s, exchange.headers_s, exchange.end_s) == (100.0, 100.5, 102.0)
    assert exchange.arrivals == [(101.0, b"ab"), (101.25, b"c"), (101.25, b"de")]
    assert exchange.error is None
    assert exchange.headers["content-type"] == "text/event-stream"


@pytest.mark.parametrize(
    "interim",
    [
        b"HTTP/1.1 100 Continue\r\n\r\n",
        b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\nX-Early: 1\r\n\r\n" * 2,
    ],
)
async def test_an_interim_answer_is_not_the_answer(interim: bytes) -> None:
    wire = Wire()
    task = await wire.send()
    wire.deliver(100.5, interim)
    assert not task.done()
    wire.deliver(101.0, HEADERS)
    wire.deliver(102.0, b"2\r\nok\r\n0\r\n\r\n")
    exchange = await task
    assert (exchange.status, exchange.body, exchange.headers_s, exchange.end_s) == (200, b"ok", 101.0, 102.0)
    assert set(exchange.headers) == {"content-type", "transfer-encoding"}
    assert wire.connection.is_open


async def test_an_interim_answer_alone_is_none() -> None:
    wire = Wire()
    task = await wire.send()
    wire.deliver(100.5, b"HTTP/1.1 100 Continue\r\n\r\n")
    wire.connection.connection_lost(None)
    assert "nothing had come" in cast("str", (await task).error)


async def test_a_second_request_goes_over_the_same_connection() -> None:
    wire = Wire()
    for status in (200, 404):
        task = await wire.send()
        wire.deliver(101, b"HTTP/1.1 %d X\r\nContent-Length: 2\r\n\r\nok" % status)
        exchange = await task
        assert (exchange.status, exchange.body, exchange.error) == (status, b"ok", None)
    assert wire.connection.is_open


async def test_a_connection_that_the_server_will_close_is_not_used_again() -> None:
    wire = Wire()
    task = await wire.send()
    wire.deliver(101, b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
    assert (await task).error is None
    assert not wire.connection.is_open
    again = await wire.connection.exchange(b"", 1)
    assert again.error is not None
    assert again.end_s is None


async def test_a_connection_closed_midway_says_how_far_the_answer_came() -> None:
    wire = Wire()
    task = await wire.send()
    wire.deliver(100.5, HEADERS)
    wire.deliver(101.0, b"3\r\nabc\r\n")
    wire.connection.connection_lost(ConnectionResetError("reset"))
    exchange = await task
    assert exchange.end_s is None
    assert exchange.error == (
        "the connection was closed by the server (reset) before the end of the answer "
        "(status 200, 3 bytes of body, the last after 1.000 s)"
    )


async def test_a_silent_server_is_a_failure_in_time() -> None:
    wire = Wire()
    exchange = await (await wire.send(timeout_s=0.01))
    assert exchange.error == "no end of the answer within 0.01 s (nothing had come)"
    assert wire.closing


@pytest.mark.parametrize("data", [b"garbage\r\n\r\n", HEADERS + b"zz\r\n"])
async def test_what_is_not_http_is_said(data: bytes) -> None:
    wire = Wire()
    task = await wire.send()
    wire.deliver(101, data)
    error = cast("str", (await task).error)
    assert error.startswith("the answer is not HTTP: ")
    assert wire.closing


async def test_a_server_that_changes_the_protocol_is_hung_up_on() -> None:
    wire = Wire()
    task = await wire.send()
    wire.deliver(101, b"HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\nabc")
    assert (await task).status == 101
    assert wire.closing


async def test_bytes_that_nobody_asked_for_close_the_connection() -> None:
    wire = Wire()
    wire.deliver(101, HEADERS)
    assert wire.closing


async def test_cancelling_closes_the_connection() -> None:
    wire = Wire()
    task = await wire.send()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert wire.closing
