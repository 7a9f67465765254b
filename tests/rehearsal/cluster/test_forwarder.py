"""Connections through the forwarder, on loopback."""

import asyncio
import contextlib
import gc
import socket
from collections.abc import AsyncIterator

import pytest

from rehearsal.cluster.forwarder import serve


class Echo:
    """A server that answers each line, and says good-bye when its client has finished."""

    def __init__(self) -> None:
        self.open = 0
        self.ended = asyncio.Condition()

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.open += 1
        with contextlib.suppress(ConnectionError):
            while line := await reader.readline():
                writer.write(line)
                await writer.drain()
            writer.write(b"bye")
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()
        async with self.ended:
            self.open -= 1
            self.ended.notify_all()

    async def all_ended(self) -> None:
        async with asyncio.timeout(5), self.ended:
            await self.ended.wait_for(lambda: self.open == 0)


@contextlib.asynccontextmanager
async def forwarded(port: int) -> AsyncIterator[int]:
    listener = socket.create_server(("127.0.0.1", 0))
    listener.setblocking(False)
    task = asyncio.create_task(serve(listener, lambda: asyncio.open_connection("127.0.0.1", port)))
    try:
        yield listener.getsockname()[1]
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


@contextlib.asynccontextmanager
async def echoing() -> AsyncIterator[tuple[Echo, int]]:
    echo = Echo()
    server = await asyncio.start_server(echo, "127.0.0.1", 0)
    async with server, forwarded(server.sockets[0].getsockname()[1]) as port:
        yield echo, port
        await echo.all_ended()


async def test_bytes_go_both_ways_and_a_half_closed_connection_still_answers() -> None:
    async with echoing() as (_, port):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        lines = b"".join(b"%d %s\n" % (number, b"x" * 500) for number in range(2000))
        writer.write(lines)
        writer.write_eof()
        assert await asyncio.wait_for(reader.read(-1), 10) == lines + b"bye"
        writer.close()
        await writer.wait_closed()


async def test_idle_connections_survive_a_garbage_collection() -> None:
    async with echoing() as (_, port):
        connections = [await asyncio.open_connection("127.0.0.1", port) for _ in range(20)]
        for reader, writer in connections:
            writer.write(b"one\n")
            assert await reader.readline() == b"one\n"
        gc.collect()
        for reader, writer in connections:
            writer.write(b"two\n")
            assert await asyncio.wait_for(reader.readline(), 5) == b"two\n"
        for _, writer in connections:
            writer.close()
            await writer.wait_closed()


async def test_the_server_learns_that_its_client_has_gone() -> None:
    async with echoing() as (echo, port):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"one\n")
        assert await reader.readline() == b"one\n"
        assert echo.open == 1
        writer.close()
        await writer.wait_closed()
        await echo.all_ended()


async def test_a_client_is_let_go_while_the_server_is_down() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    async with forwarded(port) as entrance:
        reader, writer = await asyncio.open_connection("127.0.0.1", entrance)
        with pytest.raises((asyncio.IncompleteReadError, ConnectionError)):
            await asyncio.wait_for(reader.readexactly(1), 5)
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()
