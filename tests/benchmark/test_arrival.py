import asyncio
import socket
import struct
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from benchmark import arrival
from benchmark.arrival import StampedListener, StampedSocket, connected
from benchmark.connection import Connection
from benchmark.endpoint import Endpoint

LATE_S = 0.05
linux = pytest.mark.skipif(sys.platform != "linux", reason="the kernel's stamps are Linux's")


def pair() -> tuple[socket.socket, StampedSocket]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        near = socket.create_connection(listener.getsockname())
        far, _ = listener.accept()
    stamped = StampedSocket.taking_over(near)
    # The kernel begins to stamp a moment after it was first asked to.
    for _ in range(100):
        far.send(b"x")
        stamped.recv(10)
        if stamped.arrived_ns is not None:
            break
        time.sleep(0.01)
    return far, stamped


@linux
@pytest.mark.parametrize("into", [False, True])
def test_what_is_read_late_is_known_to_have_come_earlier(into: bool) -> None:
    far, stamped = pair()
    with far, stamped:
        far.send(b"data")
        time.sleep(LATE_S)
        data = bytearray(10)
        read = bytes(data[: stamped.recv_into(data)]) if into else stamped.recv(10)
        assert read == b"data"
        assert stamped.age_s is not None
        assert LATE_S * 0.9 < stamped.age_s < LATE_S + 1


def test_what_the_kernel_does_not_stamp_has_no_age() -> None:
    near, far = socket.socketpair()
    with far, StampedSocket.taking_over(near) as stamped:
        far.send(b"data")
        assert stamped.recv(10) == b"data"
        assert stamped.age_s is None


def test_a_stamp_of_another_kind_or_of_nothing_is_none() -> None:
    stamp = struct.pack("@ll", 7, 8)
    level, kind = socket.SOL_SOCKET, 37
    assert arrival._arrived_ns([(level, 1, b""), (level, kind, stamp)]) == 7_000_000_008
    assert arrival._arrived_ns([(level, kind, bytes(48)), (0, kind, stamp)]) is None


async def test_a_host_that_does_not_answer_is_an_error_and_leaves_no_socket() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(ConnectionRefusedError):
        await connected("127.0.0.1", port)


async def test_the_next_address_of_a_host_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener, socket.create_server(("127.0.0.1", 0)) as other:
        good, bad = listener.getsockname(), other.getsockname()
        other.close()

        async def found(*_: object, **__: object) -> list[object]:
            return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", address) for address in (bad, good)]

        monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", found)
        with await connected("engine", 8000) as made:
            assert made.getpeername() == good


@asynccontextmanager
async def _answering(piece: bytes, first: bytes) -> AsyncIterator[str]:
    """Serve one answer, its second piece when the client's own loop has long been busy."""
    listener = StampedListener(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.bind(("127.0.0.1", 0))

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while await reader.readline() not in (b"\r\n", b""):
            pass
        writer.write(first)
        await asyncio.sleep(0.05)
        writer.write(piece)
        time.sleep(LATE_S)  # noqa: ASYNC251  client and server share this loop, which now is late
        await asyncio.sleep(0.05)  # the end of the connection has a stamp too, and would come with the data
        writer.close()
        await writer.wait_closed()
        done.set()

    done = asyncio.Event()
    server = await asyncio.start_server(answer, sock=listener)
    async with server:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        await done.wait()


@linux
async def test_a_client_whose_loop_is_late_stamps_what_came_when_it_came() -> None:
    first = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n"
    async with _answering(b"ok", first) as url:
        exchange = await Endpoint(url, time.monotonic).ask("/")
        now = time.monotonic()
    assert exchange.body == b"ok"
    assert exchange.end_s is not None
    assert now - exchange.end_s > LATE_S * 0.9, "it was there before the loop stood still"
    assert exchange.late_s[-1] is not None
    assert exchange.late_s[-1] > LATE_S * 0.9


class _Old:
    """Says what cannot be: that what it read had been there before it was asked for."""

    age_s = 1000.0


async def test_a_clock_that_was_set_is_not_believed() -> None:
    connection = Connection(time.monotonic, _Old())
    near, far = socket.socketpair()
    await asyncio.get_running_loop().create_connection(lambda: connection, sock=near)
    far.send(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")
    exchange = await connection.exchange(b"GET", 5)
    far.close()
    assert exchange.late_s == [None]
    assert exchange.end_s is not None
    assert exchange.end_s >= exchange.sent_s
