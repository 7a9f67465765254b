"""The HTTP listener as uvicorn is one: what is no HTTP gets one fixed answer, a line in the log, and no traceback."""

import asyncio
import logging
from email.utils import formatdate

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError

log = logging.getLogger("vllm")

_MESSAGE = b"Invalid HTTP request received."
_KEEP_ALIVE_S = 5.0  # VLLM_HTTP_TIMEOUT_KEEP_ALIVE
_LARGEST_HEAD = 1 << 20


class _Connection(web.RequestHandler):
    """A connection; `handle_error` is called for what is no HTTP, and for what a handler did not catch."""

    __slots__ = ()

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
        if isinstance(exc, HttpProcessingError) and transport is not None and not transport.is_closing():
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
        elif exc is not None and not isinstance(exc, HttpProcessingError | ConnectionError):
            log.error("%s: %s", type(exc).__name__, exc)
        if transport is not None:
            transport.close()
        raise ConnectionError("answered and closed")


class _Listener(web.Server):
    """Makes connections of our kind."""

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


class Runner(web.AppRunner):
    """Runs an application behind that listener."""

    def __init__(self, app: web.Application) -> None:
        super().__init__(app, handler_cancellation=True, access_log=None, shutdown_timeout=1.0)

    async def _make_server(self) -> web.Server:
        made = await super()._make_server()
        return _Listener(
            made.request_handler,
            request_factory=made.request_factory,
            handler_cancellation=made.handler_cancellation,
            loop=asyncio.get_running_loop(),
        )
