"""One HTTP exchange as it goes over the wire: header order, chunk borders and all."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

from rehearsal.vllm.server import LOOPBACK

_RAW_PATIENCE_S = 20.0
CLOSED, SILENT = "(closed)", "(silent)"
_PATIENCE_S = 600.0  # the first request that samples has a kernel compiled, for minutes on a busy machine


@dataclass(frozen=True)
class Question:
    """A request.

    Attributes:
        name: unique in its set.
        method: HTTP's; `RAW` if the body is all that is sent, byte for byte.
        path: of the URL.
        body: JSON, mostly.
        headers: besides those that every request has.
        hang_up_after: ends the connection after so many chunks of the answer.
        sequences: how many sequences the engine runs for it at once.
    """

    name: str
    method: str
    path: str
    body: bytes | None = None
    headers: Sequence[tuple[str, str]] = ()
    hang_up_after: int | None = None
    sequences: int = 1


@dataclass
class Answer:
    """What came back. `chunks` are the pieces of a chunked body, the arrival of each in `at_s` (monotonic).

    What is sent byte for byte may be left without one: the status then is `CLOSED` or `SILENT`.
    """

    status: str
    headers: list[tuple[str, str]]
    body: bytes = b""
    chunks: list[bytes] = field(default_factory=list)
    at_s: list[float] = field(default_factory=list)
    whole: bool = True

    @property
    def streamed(self) -> bool:
        """Whether it is a stream of events."""
        return any(name == "content-type" and value.startswith("text/event-stream") for name, value in self.headers)


async def ask(port: int, question: Question, host: str = LOOPBACK) -> Answer:
    """Send a question on a connection of its own and read the whole answer.

    Raises:
        TimeoutError: it did not end in ten minutes.
        OSError: the server closed the connection too early.
    """
    raw = question.method == "RAW"
    try:
        async with asyncio.timeout(_RAW_PATIENCE_S if raw else _PATIENCE_S):
            reader, writer = await asyncio.open_connection(host, port)
            try:
                writer.write(_request(question, f"{host}:{port}"))
                await writer.drain()
                return await _answer(reader, question)
            finally:
                writer.close()
    except asyncio.IncompleteReadError as error:
        if raw and not error.partial:
            return Answer(CLOSED, [])
        raise OSError(f"{question.name}: the connection ended within the answer") from error
    except TimeoutError:
        if raw:
            return Answer(SILENT, [])
        raise


def _request(question: Question, authority: str) -> bytes:
    if question.method == "RAW":
        return question.body or b""
    headers = [("Host", authority), ("Accept", "*/*"), *question.headers]
    if question.body is not None:
        given = {name.lower() for name, _ in question.headers}
        headers += [] if "content-type" in given else [("Content-Type", "application/json")]
        headers.append(("Content-Length", str(len(question.body))))
    lines = [f"{question.method} {question.path} HTTP/1.1", *(f"{name}: {value}" for name, value in headers)]
    return "\r\n".join([*lines, "", ""]).encode() + (question.body or b"")


async def _answer(reader: asyncio.StreamReader, question: Question) -> Answer:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").removesuffix("\r\n\r\n")
    status, *lines = head.split("\r\n")
    if status.endswith(" 100 Continue"):
        return await _answer(reader, question)
    pairs = (line.partition(":") for line in lines)
    answer = Answer(status, [(name, value.strip()) for name, _, value in pairs])
    known = {name.lower(): value for name, value in answer.headers}
    if "chunked" in known.get("transfer-encoding", ""):
        await _chunks(reader, answer, question.hang_up_after)
    elif question.method != "HEAD":
        answer.body = await reader.readexactly(int(known.get("content-length", "0")))
    return answer


async def _chunks(reader: asyncio.StreamReader, answer: Answer, limit: int | None) -> None:
    while True:
        size = int((await reader.readuntil(b"\r\n")).partition(b";")[0], 16)
        data = await reader.readexactly(size)
        await reader.readexactly(2)
        if size == 0:
            return
        answer.at_s.append(asyncio.get_running_loop().time())
        answer.chunks.append(data)
        answer.body += data
        if limit is not None and len(answer.chunks) >= limit:
            answer.whole = False
            return
