"""`python3 -m benchmark.nullserver`: a server that computes nothing and says in each chunk when it wrote it.

It answers like a completion server: the first token a gap after the request was there, then one each gap. Where the
kernel stamps what arrives, that is when a request was there: this process shares the client's CPU, and its own being
late is no error of the client's. Prints its port, and ends with its standard input.
"""

import asyncio
import json
import socket
import sys
import time
from collections.abc import Mapping
from typing import cast

from benchmark.arrival import StampedListener, StampedSocket

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
OK = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"
GAP_S = 0.02
BACKLOG = 2048


class NullServer(asyncio.Protocol):
    """One connection."""

    def __init__(self, sources: Mapping[int, StampedSocket]) -> None:
        self._sources = sources
        self._source: StampedSocket | None = None
        self._data = b""
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport, and what it reads from."""
        self._transport = cast("asyncio.Transport", transport)
        self._source = self._sources.get(transport.get_extra_info("socket").fileno())

    def data_received(self, data: bytes) -> None:
        """Answer whole requests."""
        read_s = time.monotonic() - ((self._source and self._source.age_s) or 0.0)
        self._data += data
        head, blank, body = self._data.partition(b"\r\n\r\n")
        if not blank or self._transport is None:
            return
        length = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
        size = int(length[0].partition(b":")[2]) if length else 0
        if len(body) < size:
            return
        self._data = body[size:]
        if not size:
            self._transport.write(OK)
            return
        tokens = int(json.loads(body[:size])["max_tokens"])
        self._transport.write(HEAD)
        self._later(tokens, read_s, asyncio.get_running_loop().time() + GAP_S)

    def _later(self, left: int, read_s: float, due_s: float) -> None:
        asyncio.get_running_loop().call_at(due_s, self._token, left, read_s, due_s)

    def _token(self, left: int, read_s: float, due_s: float) -> None:
        if self._transport is None or self._transport.is_closing():
            return
        event = b'data: {"read_s":%.9f,"written_s":%.9f}\n\n' % (read_s, time.monotonic())
        chunk = b"%x\r\n%s\r\n" % (len(event), event)
        if left == 1:
            self._transport.write(chunk + b"0\r\n\r\n")
            return
        self._transport.write(chunk)
        self._later(left - 1, read_s, due_s + GAP_S)


async def serve() -> None:
    """Serve on a port of the loopback until the standard input ends."""
    loop = asyncio.get_running_loop()
    # With its protocol named, or asyncio would leave Nagle's algorithm on, and the second chunk would wait.
    listener = StampedListener(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.bind(("127.0.0.1", 0))
    server = await loop.create_server(lambda: NullServer(listener.sources), sock=listener, backlog=BACKLOG)
    print(server.sockets[0].getsockname()[1], flush=True)
    await loop.run_in_executor(None, sys.stdin.read)
    server.close()


if __name__ == "__main__":
    asyncio.run(serve())
