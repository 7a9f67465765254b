"""An OpenAI-compatible server at a URL: connections to it, and plain questions it answers in JSON."""

import asyncio
import json
import re
import ssl
from typing import Any
from urllib.parse import urlsplit

from benchmark.arrival import connected
from benchmark.completion import PATH, completion_body, read_answer
from benchmark.connection import Clock, Connection, Exchange
from experiment.errors import SplitbedError
from experiment.record import Failure, Reply

ASK_TIMEOUT_S = 15.0
_SETTLING_S = 0.02


class UrlError(SplitbedError):
    """The URL given is none that can be asked."""


class Endpoint:
    """Where to connect, and how to phrase a request for it."""

    def __init__(self, url: str, clock: Clock, key: str | None = None, context: ssl.SSLContext | None = None) -> None:
        """Take the URL apart; `key` is sent as a bearer token, `context` knows other authorities than this machine's.

        Raises:
            UrlError: not http(s), or no host.
        """
        try:
            parts = urlsplit(url)
            port = parts.port
        except ValueError as error:
            raise UrlError(f"--url {_shown(url)}: {error}.", "Give a URL such as http://127.0.0.1:8000.") from None
        plain = url.isascii() and url.isprintable() and " " not in url
        extra = parts.query or parts.fragment or parts.username
        if not plain or extra or parts.scheme not in ("http", "https") or not parts.hostname:
            raise UrlError(
                f"--url {_shown(url)}: not the address of a server.",
                "Give a URL such as http://127.0.0.1:8000, no more.",
            )
        self.url = url.rstrip("/")
        self.clock = clock
        self._host = parts.hostname
        self._ssl = (context or ssl.create_default_context()) if parts.scheme == "https" else None
        self._port = port or (443 if self._ssl else 80)
        self._authority = parts.netloc
        self._prefix = parts.path.rstrip("/")
        self._key = key

    async def open(self, timeout_s: float) -> Connection:
        """Open a connection and have one `/health` answered on it, so that no request pays for accepting it.

        Raises:
            OSError: refused, not resolved or not in time (TimeoutError is one).
        """
        connection = await self._connect(timeout_s)
        try:
            await connection.exchange(self._request("GET", "/health"), timeout_s)
            # A server may close behind its answer without having said so. That is seen before a request is sent,
            # not after: one that is sent again could hide that the server failed it.
            await asyncio.sleep(_SETTLING_S)
        except asyncio.CancelledError:
            connection.abort()  # nobody else knows of it yet
            raise
        if connection.is_open:
            return connection
        return await self._connect(timeout_s)  # a server without keep-alive: a bare connection is the best there is

    async def ask(
        self, path: str, body: bytes = b"", timeout_s: float = ASK_TIMEOUT_S, method: str | None = None
    ) -> Exchange:
        """GET a path on a connection of its own, or POST a JSON body to it, if no other method is named.

        Raises:
            OSError: no connection.
        """
        connection = await self._connect(timeout_s)
        try:
            request = self._request(method or ("POST" if body else "GET"), path, body)
            return await connection.exchange(request, timeout_s)
        finally:
            connection.abort()

    def get(self, path: str) -> bytes:
        """Return the request that asks for a path."""
        return self._request("GET", path)

    def completion(
        self, model: str, prompt: list[int], output_tokens: int, *, ids: bool = False, request_id: str | None = None
    ) -> bytes:
        """Return the request of a streamed completion.

        With `ids` the answer names its tokens; vLLM calls the request by `request_id` in its log.
        """
        return self._request("POST", PATH, completion_body(model, prompt, output_tokens, ids=ids), request_id)

    async def complete(
        self, connection: Connection, model: str, prompt: list[int], output_tokens: int, timeout_s: float
    ) -> Reply | Failure:
        """Stream one completion over an open connection."""
        request = self.completion(model, prompt, output_tokens)
        return read_answer(await connection.exchange(request, timeout_s), output_tokens, len(prompt))

    async def _connect(self, timeout_s: float) -> Connection:
        loop = asyncio.get_running_loop()
        async with asyncio.timeout(timeout_s):
            source = await connected(self._host, self._port)
            try:
                _, connection = await loop.create_connection(
                    lambda: Connection(self.clock, source),
                    sock=source,
                    ssl=self._ssl,
                    server_hostname=self._host if self._ssl else None,
                )
            except BaseException:
                source.close()
                raise
        return connection

    def _request(self, method: str, path: str, body: bytes = b"", request_id: str | None = None) -> bytes:
        lines = [
            f"{method} {self._prefix}{path} HTTP/1.1",
            f"Host: {self._authority}",
            "User-Agent: splitbed",
        ]
        if request_id is not None:
            lines.append(f"X-Request-Id: {request_id}")
        if self._key is not None:
            lines.append(f"Authorization: Bearer {self._key}")
        if body:
            lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
        return "\r\n".join([*lines, "", ""]).encode("ascii") + body


def _shown(url: str) -> str:
    """Return the URL for a message, which may end up in a log: without the user and the password it may name."""
    return re.sub(r"^(\w+://)?.*@", r"\1...@", url, flags=re.DOTALL)


def json_object(exchange: Exchange) -> dict[str, Any] | None:
    """Return the body as a JSON object, or nothing if it is none."""
    try:
        value = json.loads(exchange.body)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
