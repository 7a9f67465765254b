"""A server on 127.0.0.1 in a thread of its own, which answers as vLLM does, or fails as it is told to."""

import asyncio
import json
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, Self

MODEL = "org/model"
STANDIN = {"profile": "quick", "parameters": {"step_s": 0.001}}


class Server:
    """Attributes may be changed while it runs; `faults` is used up, one entry per measured completion."""

    def __init__(self) -> None:
        self.standin: dict[str, Any] | None = STANDIN
        self.version = "0.31.0"
        self.model = MODEL
        self.gap_s = 0.001
        self.health = 200
        self.dead = False
        self.faults: deque[str | None] = deque()
        self.completions: list[dict[str, Any]] = []
        self.measured = threading.Semaphore(0)
        self.port = 0
        self._loop = asyncio.new_event_loop()
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @classmethod
    @contextmanager
    def running(cls) -> Iterator[Self]:
        server = cls()
        ready = threading.Event()
        thread = threading.Thread(target=lambda: server._loop.run_until_complete(server._serve(ready)))
        thread.start()
        ready.wait(10)
        try:
            yield server
        finally:
            server._loop.call_soon_threadsafe(server._stop.set)
            thread.join()
            server._loop.close()

    async def _serve(self, ready: threading.Event) -> None:
        self._stop = asyncio.Event()
        listener = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.port = listener.sockets[0].getsockname()[1]
        ready.set()
        await self._stop.wait()
        listener.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                path = head.split(b" ")[1].decode()
                length = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
                body = await reader.readexactly(int(length[0].split(b":")[1])) if length else b""
                await self._answer(path, body, writer)
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass
        finally:
            self._tasks.discard(task)
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()

    async def _answer(self, path: str, body: bytes, writer: asyncio.StreamWriter) -> None:
        if path == "/health":
            _respond(writer, self.health, b"")
        elif path == "/v1/models":
            _respond(writer, 200, json.dumps({"data": [{"id": self.model}]}).encode())
        elif path == "/version":
            _respond(writer, 200, json.dumps({"version": self.version}).encode())
        elif path == "/splitbed/standin" and self.standin is not None:
            _respond(writer, 200, json.dumps(self.standin).encode())
        elif path == "/v1/completions":
            request = json.loads(body)
            self.completions.append(request)
            is_measured = request["max_tokens"] > 16
            fault = self.faults.popleft() if is_measured and self.faults else None
            if is_measured:
                self.measured.release()
            await self._complete(request, "hang" if self.dead else fault, writer)
        else:
            _respond(writer, 404, b'{"detail":"Not Found"}')
        await writer.drain()

    async def _complete(self, request: dict[str, Any], fault: str | None, writer: asyncio.StreamWriter) -> None:
        if fault == "die":
            self.dead, fault = True, "hang"
        if fault == "hang":
            await asyncio.sleep(3600)
        if fault == "500":
            return _respond(writer, 500, b'{"error":{"message":"EngineCore encountered an issue"}}')
        writer.write(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")
        count = request["max_tokens"] - (5 if fault == "short" else 0)
        for number in range(count):
            if fault == "reset" and number == 10:
                writer.transport.abort()
                return None
            choice = {"index": 0, "text": "word ", "finish_reason": "length" if number == count - 1 else None}
            _send(writer, {"choices": [choice]})
            await asyncio.sleep(self.gap_s)
        if fault == "error":
            _send(writer, {"error": {"message": "out of luck", "code": 500}})
        elif fault != "no usage":
            _send(
                writer, {"choices": [], "usage": {"prompt_tokens": len(request["prompt"]), "completion_tokens": count}}
            )
        _chunk(writer, b"data: [DONE]\n\n")
        writer.write(b"0\r\n\r\n")
        return None


def _respond(writer: asyncio.StreamWriter, status: int, body: bytes) -> None:
    writer.write(f"HTTP/1.1 {status} X\r\ncontent-length: {len(body)}\r\n\r\n".encode() + body)


def _send(writer: asyncio.StreamWriter, event: dict[str, Any]) -> None:
    _chunk(writer, f"data: {json.dumps(event)}\n\n".encode())


def _chunk(writer: asyncio.StreamWriter, data: bytes) -> None:
    writer.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
