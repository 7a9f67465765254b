"""The HTTP listener as uvicorn is one: what is no HTTP gets one fixed answer, a line in the log, and no traceback.

Each connection knows when the kernel had what it read last, however late this process came to it (`arrived_ns`).
"""

import asyncio
import logging
from collections.abc import Callable, Mapping
from email.utils import formatdate
from typing import Any

from aiohttp import HttpVersion10, HttpVersion11, web
from aiohttp.http_exceptions import HttpProcessingError
from aiohttp.http_parser import RawRequestMessage
from aiohttp.web_protocol import RequestPayloadError, _ErrInfo

from rehearsal.engine.arrival import Arrival

log = logging.getLogger("vllm")

_MESSAGE = b"Invalid HTTP request received."
_END_OF_HEAD = b"\r\n\r\n"
_KEEP_ALIVE_S = 5.0  # VLLM_HTTP_TIMEOUT_KEEP_ALIVE
_LARGEST_HEAD = 1 << 20


class _Connection(web.RequestHandler):
    """A connection; `handle_error` is called for what is no HTTP, and for what a handler did not catch."""

    __slots__ = ("arrived_ns", "socket")

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Find the socket that knows when its data came."""
        super().connection_made(transport)
        sock = transport.get_extra_info("socket")
        arrivals = self._manager.arrivals if isinstance(self._manager, _Listener) else {}
        self.socket = arrivals.get(sock.fileno()) if sock is not None else None
        self.arrived_ns: int | None = None

    def data_received(self, data: bytes) -> None:
        """Take in the head before what follows: a request is begun, and counted, even if its body is no HTTP."""
        self.arrived_ns = self.socket.at_ns if self.socket is not None else None
        head, end, rest = data.partition(_END_OF_HEAD)
        super().data_received(head + end)
        if rest:
            super().data_received(rest)
        if self._messages and isinstance(self._messages[-1][0], _ErrInfo):
            self._give_up_body()

    def _give_up_body(self) -> None:
        """Tell whoever waits for more of a body that there is none: aiohttp does not, and it would wait for ever."""
        bodies = [payload for _, payload in self._messages]
        if self._current_request is not None:
            bodies.insert(0, self._current_request.content)
        for body in bodies:
            if not body.is_eof():
                body.set_exception(RequestPayloadError(_MESSAGE.decode()))

    def handle_error(
        self,
        request: web.BaseRequest,  # noqa: ARG002
        status: int = 500,  # noqa: ARG002
        exc: BaseException | None = None,
        message: str | None = None,  # noqa: ARG002
    ) -> web.StreamResponse:
        """Answer as uvicorn does, and close the connection.

        Raises:
            ConnectionError: always; it ends the connection without a word in the log.
        """
        transport = self.transport
        no_http = isinstance(exc, HttpProcessingError | RequestPayloadError)
        if no_http and transport is not None and not transport.is_closing():
            log.warning(_MESSAGE.decode())
            head = (
                "HTTP/1.1 400 Bad Request",
                f"date: {formatdate(usegmt=True)}",
                "server: uvicorn",
                "content-type: text/plain; charset=utf-8",
                f"content-length: {len(_MESSAGE)}",
                "connection: close",
            )
            transport.write("\r\n".join([*head, "", ""]).encode() + _MESSAGE)
        elif exc is not None and not no_http and not isinstance(exc, ConnectionError):
            log.error("%s: %s", type(exc).__name__, exc)
        if transport is not None:
            transport.close()
        raise ConnectionError("answered and closed")


class _Listener(web.Server):
    """Makes connections of our kind; `arrivals` are their sockets by descriptor, where those are stamped."""

    arrivals: Mapping[int, Arrival]

    def __call__(self) -> _Connection:
        """Return the protocol of a new connection."""
        return _Connection(
            self,
            loop=asyncio.get_running_loop(),
            access_log=None,  # type: ignore[arg-type]  # none, as aiohttp's own runner hands it on
            logger=log,
            keepalive_timeout=_KEEP_ALIVE_S,
            auto_decompress=False,
            max_line_size=_LARGEST_HEAD,
            max_field_size=_LARGEST_HEAD,
            max_headers=_LARGEST_HEAD,
        )


def _in_http_1_1(make: Callable[..., web.BaseRequest]) -> Callable[..., web.BaseRequest]:
    """Have requests of HTTP 1.0 answered in HTTP 1.1, as uvicorn does; the connection still ends after it."""

    def made(message: RawRequestMessage, *rest: Any) -> web.BaseRequest:
        return make(message._replace(version=HttpVersion11) if message.version == HttpVersion10 else message, *rest)

    return made


class Runner(web.AppRunner):
    """Runs an application behind that listener."""

    def __init__(self, app: web.Application, arrivals: Mapping[int, Arrival] | None = None) -> None:
        self._arrivals = {} if arrivals is None else arrivals
        super().__init__(app, handler_cancellation=True, access_log=None, shutdown_timeout=1.0)

    async def _make_server(self) -> web.Server:
        made = await super()._make_server()
        listener = _Listener(
            made.request_handler,
            request_factory=_in_http_1_1(made.request_factory),
            handler_cancellation=made.handler_cancellation,
            loop=asyncio.get_running_loop(),
        )
        listener.arrivals = self._arrivals
        return listener


def arrival(request: web.BaseRequest) -> int | None:
    """Return when the kernel had the last of a request, in ns of the monotonic clock; none if that is not known."""
    return request.protocol.arrived_ns if isinstance(request.protocol, _Connection) else None
