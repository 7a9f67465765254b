"""How the ranks of a split engine find each other: every worker keeps one TCP connection to the leader's master port.

The leader opens the port, waits until each worker has said its rank, and then says go to all. From there on it sends
a frame for each step, as large as what the real stages would send each other, and a worker answers it; a step that a
lost worker has not answered never ends. A worker that loses its leader exits, as torch's process group would let it.
"""

import asyncio
import json
import logging
import socket
import struct
from collections.abc import Callable
from dataclasses import dataclass, field

log = logging.getLogger("vllm")

_FRAME = struct.Struct("!QI")
_ANSWER = struct.Struct("!Q")
_FILL = bytes(65536)
_MAX_FILL = 64 * 1024 * 1024


class RankError(Exception):
    """A rank cannot join, or the group it belonged to is gone."""


def _keep_alive(writer: asyncio.StreamWriter) -> None:
    """Let the kernel notice within half a minute that the other node is gone without a word."""
    sock: socket.socket = writer.get_extra_info("socket")
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, value in ((socket.TCP_KEEPIDLE, 10), (socket.TCP_KEEPINTVL, 5), (socket.TCP_KEEPCNT, 4)):
        sock.setsockopt(socket.IPPROTO_TCP, option, value)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


@dataclass
class Leader:
    """The leader's side. `on_answer` hears of a step that every worker has answered."""

    nnodes: int
    port: int
    on_answer: Callable[[int], None] = lambda _: None
    _writers: dict[int, asyncio.StreamWriter] = field(default_factory=dict)
    _missing: dict[int, set[int]] = field(default_factory=dict)
    _complete: asyncio.Event = field(default_factory=asyncio.Event)
    _server: asyncio.Server | None = None
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    async def gather(self) -> None:
        """Open the master port and wait until all workers are there.

        Raises:
            OSError: The port is taken.
        """
        self._server = await asyncio.start_server(self._serve, host="0.0.0.0", port=self.port)
        if self.port == 0:
            self.port = self._server.sockets[0].getsockname()[1]
        if self.nnodes > 1:
            await self._complete.wait()
        for writer in self._writers.values():
            writer.write(b'{"go":true}\n')

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        _keep_alive(writer)
        task = asyncio.current_task()
        if task is not None:
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        rank = None
        try:
            hello = json.loads(await reader.readline())
            rank = int(hello["rank"])
            if self._complete.is_set() or hello["nnodes"] != self.nnodes or not 1 <= rank < self.nnodes:
                # The group is full or another one: torch lets such a rank wait until its own time-out.
                await reader.read()
                return
            self._writers[rank] = writer
            log.info("rank %d of %d joined from %s", rank, self.nnodes, writer.get_extra_info("peername")[0])
            if len(self._writers) == self.nnodes - 1:
                self._complete.set()
            while True:
                (number,) = _ANSWER.unpack(await reader.readexactly(_ANSWER.size))
                self._answered(rank, number)
        except (OSError, ValueError, KeyError, TypeError, RecursionError, asyncio.IncompleteReadError):
            pass  # gone, or no rank at all
        except asyncio.CancelledError:
            pass  # by `close`; Python 3.11's streams would log it as an error of ours
        finally:
            writer.close()
            if rank is not None and self._writers.get(rank) is writer:
                self._lose(rank)

    def _lose(self, rank: int) -> None:
        if self._complete.is_set():
            # The engine only finds out when it misses an answer; until then it looks healthy (as vLLM does).
            log.error("connection to rank %d is lost", rank)
        else:
            del self._writers[rank]

    def send(self, number: int, size: int) -> None:
        """Send every worker a frame of `size` bytes for step `number`."""
        if self.nnodes == 1:
            self.on_answer(number)
            return
        size = min(size, _MAX_FILL)
        self._missing[number] = set(self._writers)
        for writer in self._writers.values():
            if writer.is_closing():
                continue
            writer.write(_FRAME.pack(number, size))
            for start in range(0, size, len(_FILL)):
                writer.write(_FILL[: min(len(_FILL), size - start)])

    def _answered(self, rank: int, number: int) -> None:
        missing = self._missing.get(number)
        if missing is None:
            return
        missing.discard(rank)
        if not missing:
            del self._missing[number]
            self.on_answer(number)

    async def close(self) -> None:
        """Let go of all workers."""
        if self._server is not None:
            self._server.close()
        for writer in self._writers.values():
            writer.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


@dataclass
class Worker:
    """A worker's side."""

    rank: int
    nnodes: int
    leader: str
    port: int
    join_timeout_s: float = 600.0
    retry_s: float = 0.5

    async def join(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Connect to the leader, again and again until it is there, and wait for its go.

        Raises:
            RankError: The leader does not answer in time, or leaves before the group is complete.
        """
        try:
            async with asyncio.timeout(self.join_timeout_s):
                reader, writer = await self._connect()
                try:
                    await self._greet(reader, writer)
                except BaseException:
                    writer.close()
                    raise
        except TimeoutError:
            raise RankError(
                f"The client socket has timed out after {self.join_timeout_s:.0f}s while trying to connect to "
                f"({self.leader}, {self.port})."
            ) from None
        return reader, writer

    async def _greet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        hello = {"rank": self.rank, "nnodes": self.nnodes}
        writer.write(json.dumps(hello).encode() + b"\n")
        if not await reader.readline():
            raise RankError(f"The leader at {self.leader}:{self.port} left before the group was complete.")

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        while True:
            try:
                reader, writer = await asyncio.open_connection(self.leader, self.port)
            except OSError as e:
                log.debug("no connection to %s:%d yet: %s", self.leader, self.port, e)
                await asyncio.sleep(self.retry_s)
                continue
            _keep_alive(writer)
            return reader, writer

    async def work(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer steps until the leader is gone.

        Raises:
            RankError: Always, at the end.
        """
        try:
            while True:
                number, size = _FRAME.unpack(await reader.readexactly(_FRAME.size))
                while size > 0:
                    got = len(await reader.read(min(size, 1 << 20)))
                    if got == 0:
                        raise asyncio.IncompleteReadError(b"", size)
                    size -= got
                writer.write(_ANSWER.pack(number))
        except (OSError, asyncio.IncompleteReadError) as e:
            raise RankError(f"Connection closed by peer [{self.leader}]:{self.port}") from e
        finally:
            writer.close()
