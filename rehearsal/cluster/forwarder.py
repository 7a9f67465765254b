"""Carries connections from a listener made on the host to the API server in the cluster's network.

A socket belongs to the network namespace it was made in: `up` opens a loopback port on the host, and this program,
inside, inherits it. So no second forwarder is needed, and the port closes with the cluster.
"""

import asyncio
import contextlib
import socket
import sys
from collections.abc import Awaitable, Callable

Connect = Callable[[], Awaitable[tuple[asyncio.StreamReader, asyncio.StreamWriter]]]
"""Opens a connection to where everything is carried; raises `OSError`."""

_CHUNK = 1 << 16


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while data := await reader.read(_CHUNK):
            writer.write(data)
            await writer.drain()
        if writer.can_write_eof():
            writer.write_eof()


async def _close(*writers: asyncio.StreamWriter) -> None:
    for writer in writers:
        writer.close()  # all of them, before anything is awaited and may be cancelled
    for writer in writers:
        with contextlib.suppress(OSError):
            await writer.wait_closed()


async def _carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, connect: Connect) -> None:
    try:
        there_reader, there_writer = await connect()
    except OSError:
        await _close(writer)
        return
    except asyncio.CancelledError:
        writer.close()
        raise
    sending = asyncio.create_task(_pump(reader, there_writer))
    try:
        # Once the server has ended, nothing of what the client still sends is wanted.
        await _pump(there_reader, writer)
    finally:
        sending.cancel()
        await _close(there_writer, writer)


async def serve(listener: socket.socket, connect: Connect) -> None:
    """Forward every connection that `listener` accepts to what `connect` opens, until cancelled."""
    # Nothing else refers to a task whose both ends are idle: without this it would be collected as garbage.
    carrying: set[asyncio.Task[None]] = set()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(_carry(reader, writer, connect))
        carrying.add(task)
        task.add_done_callback(carrying.discard)

    server = await asyncio.start_server(accept, sock=listener)
    try:
        async with server:
            await server.serve_forever()
    finally:
        for task in carrying:
            task.cancel()
        await asyncio.gather(*carrying, return_exceptions=True)


def main() -> None:
    """Run as `python -m rehearsal.cluster.forwarder <descriptor> <host> <port>`."""
    listener = socket.socket(fileno=int(sys.argv[1]))
    listener.setblocking(False)
    host, port = sys.argv[2], int(sys.argv[3])
    asyncio.run(serve(listener, lambda: asyncio.open_connection(host, port)))


if __name__ == "__main__":
    main()
