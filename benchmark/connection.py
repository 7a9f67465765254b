"""One HTTP/1.1 connection whose reads are stamped before they are parsed, by the kernel where it does."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol, cast

import httptools

Clock = Callable[[], float]
_PAIRED_S, _TRIES = 50e-6, 5
"""Two clocks are read at one moment, unless this process was stopped between them; then they are read again."""
_INTERIM = frozenset(range(100, 200)) - {101}  # after 101 no other answer comes, nor HTTP at all


class Source(Protocol):
    """What a connection reads from, and knows how long ago that came."""

    @property
    def age_s(self) -> float | None:
        """Seconds since the kernel had what was read last; none if that is not known."""


@dataclass(slots=True)
class Exchange:
    """A request and what came back, as it came: nothing of the body is interpreted while it streams.

    Stamps are seconds of the connection's clock. `arrivals` pairs each piece of the body with the moment at which the
    kernel had it, or, where the kernel does not tell, at which it was read; `late_s` has for each read how long it was
    after the kernel, or none. Either `end_s` is set (a whole answer) or `error` says why there is none.
    """

    sent_s: float
    status: int | None = None
    headers: dict[str, str] = field(default_factory=dict)
    headers_s: float | None = None
    arrivals: list[tuple[float, bytes]] = field(default_factory=list)
    late_s: list[float | None] = field(default_factory=list)
    end_s: float | None = None
    error: str | None = None

    @property
    def body(self) -> bytes:
        """The body so far, in one piece."""
        return b"".join(piece for _, piece in self.arrivals)


class Connection(asyncio.Protocol):
    """Sends one request at a time; httptools calls the `on_*` methods back while it is fed."""

    def __init__(self, clock: Clock, source: Source | None = None) -> None:
        self._clock = clock
        self._source = source
        self._transport: asyncio.Transport | None = None
        self._parser: httptools.HttpResponseParser | None = None
        self._exchange: Exchange | None = None
        self.latest: Exchange | None = None
        """The exchange begun last, also if it was cancelled."""
        self._done: asyncio.Future[None] | None = None
        self._arrived_s = 0.0
        self._lost = "the connection was never opened"

    @property
    def is_open(self) -> bool:
        """Whether another request can be sent."""
        return self._transport is not None and not self._transport.is_closing()

    @property
    def own(self) -> tuple[str, int] | None:
        """Address and port of this side; none if there is no such thing any more."""
        name = self._transport.get_extra_info("sockname") if self._transport is not None else None
        return (str(name[0]), int(name[1])) if isinstance(name, tuple) and len(name) > 1 else None

    async def exchange(self, request: bytes, timeout_s: float) -> Exchange:
        """Send a whole HTTP request and wait for the end of its answer, for a failure, or for the time-out.

        Never raises for what the network or the server does: `Exchange.error` tells. Cancelling closes the
        connection.
        """
        if self._transport is None or self._transport.is_closing():
            return Exchange(sent_s=self._clock(), error=self._lost)
        self._parser = httptools.HttpResponseParser(self)
        self._done = asyncio.get_running_loop().create_future()
        exchange = self._exchange = self.latest = Exchange(sent_s=self._clock())
        self._arrived_s = exchange.sent_s
        self._transport.write(request)
        try:
            async with asyncio.timeout(timeout_s):
                await self._done
        except TimeoutError:
            self._end(f"no end of the answer within {timeout_s:g} s ({_progress(exchange)})")
            self.abort()
        except asyncio.CancelledError:
            self._end("interrupted")
            self.abort()
            raise
        return exchange

    def abort(self) -> None:
        """Close at once, without waiting for anything."""
        if self._transport is not None:
            self._transport.abort()

    # asyncio's side

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        """Stamp first, parse then: neither the parser's time nor this loop's being late is the server's."""
        read_s, age_s = self._read()
        if self._parser is None or self._exchange is None:
            self.abort()  # nobody asked: whatever this is, the next answer could not be told from it
            return
        if age_s is not None and not 0 <= age_s <= read_s - self._arrived_s:
            age_s = None  # older than what came before it: the system's clock was set
        self._exchange.late_s.append(age_s)
        self._arrived_s = read_s - (age_s or 0.0)
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade) as error:
            self._end(f"the answer is not HTTP: {error}")
            self.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """An answer that was under way is a failed one."""
        self._lost = f"the connection was closed by the server{f' ({exc})' if exc else ''}"
        if self._exchange is not None:
            self._end(f"{self._lost} before the end of the answer ({_progress(self._exchange)})")

    # httptools' side

    def on_header(self, name: bytes, value: bytes) -> None:
        """Keep a header under its lower-case name."""
        if self._exchange is not None:
            self._exchange.headers[name.decode("latin-1").lower()] = value.decode("latin-1")

    def on_headers_complete(self) -> None:
        """Stamp the headers."""
        if self._exchange is not None and self._parser is not None:
            self._exchange.status = self._parser.get_status_code()
            self._exchange.headers_s = self._arrived_s

    def on_body(self, body: bytes) -> None:
        """Keep a piece of the body with its stamp."""
        if self._exchange is not None:
            self._exchange.arrivals.append((self._arrived_s, body))

    def on_message_complete(self) -> None:
        """The answer is whole, unless it was an interim one (RFC 9110, section 15.2): another follows."""
        if self._exchange is None or self._parser is None:
            return
        if self._parser.get_status_code() in _INTERIM:
            self._exchange.status, self._exchange.headers_s = None, None
            self._exchange.headers.clear()
            return
        keep = self._parser.should_keep_alive()
        self._exchange.end_s = self._arrived_s
        self._end(None)
        if not keep and self._transport is not None:
            self._lost = "the server keeps no connection open between requests"
            self._transport.close()

    def _read(self) -> tuple[float, float | None]:
        """Return the moment of reading, and for how long the kernel had had it then."""
        if self._source is None:
            return self._clock(), None
        for _ in range(_TRIES):
            read_s, age_s = self._clock(), self._source.age_s
            if age_s is None or self._clock() - read_s < _PAIRED_S:
                return read_s, age_s
        return read_s, None

    def _end(self, error: str | None) -> None:
        if self._exchange is not None:
            self._exchange.error = error
        self._exchange = self._parser = None
        if self._done is not None and not self._done.done():
            self._done.set_result(None)


def _progress(exchange: Exchange) -> str:
    if exchange.headers_s is None:
        return "nothing had come"
    last_s = exchange.arrivals[-1][0] if exchange.arrivals else exchange.headers_s
    size = sum(len(piece) for _, piece in exchange.arrivals)
    return f"status {exchange.status}, {size} bytes of body, the last after {last_s - exchange.sent_s:.3f} s"
