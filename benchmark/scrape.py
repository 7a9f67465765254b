"""What a server counts, by its `/metrics`: read before and after a repeat and each second of it."""

import asyncio
import re
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from benchmark.connection import Connection
from benchmark.endpoint import Endpoint
from experiment.catalogue.engines import engine
from experiment.errors import SplitbedError
from experiment.measure.counters import AROUND, EACH_SECOND, OF_THE_PROCESS, Counters, Scrape, ServerCounters

PATH = "/metrics"
PERIOD_S = 1.0
TIMEOUT_S = 5.0
SETTLE_S = 0.05
"""After the last token a server still counts it."""

_SAMPLE = re.compile(rb"^([A-Za-z_:][\w:]*)(?:\{[^}]*\})?[ \t]+(\S+)", re.MULTILINE)


class CounterError(SplitbedError):
    """A server lacks a metric that its version has."""


@dataclass
class _Raw:
    asked_s: float
    answered_s: float
    body: bytes


@dataclass
class _Server:
    endpoint: Endpoint
    connection: Connection | None = None
    before: _Raw | None = None
    after: _Raw | None = None
    seconds: list[_Raw] = field(default_factory=list)
    missed: int = 0


class Scraper:
    """Looks at the counters of servers; `names` are this version's own, by the names records have."""

    def __init__(self, endpoints: Sequence[Endpoint], version: str | None) -> None:
        self._servers = [_Server(endpoint) for endpoint in endpoints]
        self._version = version
        self.unknown: str | None = None
        try:
            known = engine(version) if version is not None else None
        except SplitbedError as error:
            known, self.unknown = None, str(error)
        if known is None:
            self.unknown = self.unknown or "the server does not tell its version, by which its counters are named"
            self._names: dict[str, bytes] = {}
        else:
            self._names = {name: known.metric(name).encode() for name in AROUND}

    async def begin(self) -> None:
        """Forget what was read, and look for the first time.

        Raises:
            CounterError: a server lacks a metric that its version has.
        """
        for server in self._servers:
            server.before = server.after = None
            server.seconds, server.missed = [], 0
        if self._names:
            for server in self._servers:
                server.before = await self._look(server)
                if server.before is not None:
                    self._values(server.before.body, AROUND)

    async def end(self) -> None:
        """Look for the last time."""
        if self._names:
            await asyncio.sleep(SETTLE_S)
            for server in self._servers:
                server.after = await self._look(server)

    @asynccontextmanager
    async def watching(self) -> AsyncIterator[None]:
        """Look each second."""
        task = asyncio.ensure_future(self._watch())
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def now(self, names: Iterable[str]) -> list[dict[str, float]] | None:
        """Return what all servers say now of some metrics; none if one of them does not say it.

        Raises:
            CounterError: a server lacks a metric that its version has.
        """
        if not self._names:
            return None
        await asyncio.sleep(SETTLE_S)
        found = [await self._look(server) for server in self._servers]
        return [self._values(raw.body, names) for raw in found if raw is not None] if all(found) else None

    @property
    def addresses(self) -> list[str]:
        """Whose counters are read."""
        return [server.endpoint.url for server in self._servers]

    def counters(self) -> Counters:
        """Return what was read from `begin` to `end`.

        Raises:
            CounterError: a server lacks a metric that its version has.
        """
        if not self._names:
            return Counters(unknown=self.unknown)
        servers = []
        for server in self._servers:
            if server.before is None or server.after is None:
                return Counters(unknown=f"GET {PATH} of {server.endpoint.url} was not answered around the repeat")
            servers.append(
                ServerCounters(
                    address=server.endpoint.url,
                    before=self._scrape(server.before, AROUND),
                    after=self._scrape(server.after, AROUND),
                    each_second=tuple(self._scrape(raw, EACH_SECOND, process=False) for raw in server.seconds),
                    missed=server.missed,
                )
            )
        return Counters(servers=tuple(servers))

    def close(self) -> None:
        """Close the connections."""
        for server in self._servers:
            if server.connection is not None:
                server.connection.abort()

    async def _watch(self) -> None:
        if not self._names:
            return
        while True:
            await asyncio.sleep(PERIOD_S)
            for server in self._servers:
                raw = await self._look(server)
                if raw is None:
                    server.missed += 1
                else:
                    server.seconds.append(raw)

    async def _look(self, server: _Server) -> _Raw | None:
        try:
            if server.connection is None or not server.connection.is_open:
                server.connection = await server.endpoint.open(TIMEOUT_S)
        except OSError:
            return None
        exchange = await server.connection.exchange(server.endpoint.get(PATH), TIMEOUT_S)
        if exchange.error is not None or exchange.status != 200 or exchange.end_s is None:
            return None
        return _Raw(exchange.sent_s, exchange.end_s, exchange.body)

    def _scrape(self, raw: _Raw, names: Sequence[str], *, process: bool = True) -> Scrape:
        values = self._values(raw.body, names)
        if process:
            found = samples(raw.body, {name.encode() for name in OF_THE_PROCESS})
            values |= {name: found[name.encode()] for name in OF_THE_PROCESS if name.encode() in found}
        return Scrape(asked_s=raw.asked_s, answered_s=raw.answered_s, values=values)

    def _values(self, body: bytes, names: Iterable[str]) -> dict[str, float]:
        wanted = {name: self._names[name] for name in names}
        found = samples(body, set(wanted.values()))
        missing = sorted(own.decode() for own in wanted.values() if own not in found)
        if missing:
            raise CounterError(
                f"GET {PATH}: vLLM {self._version} should tell {', '.join(missing)}, and this server does not.",
                "Start the engine without --disable-log-stats; or is it another version than it says?",
            )
        return {name: found[own] for name, own in wanted.items()}


def samples(body: bytes, names: set[bytes]) -> dict[bytes, float]:
    """Return metrics of Prometheus' text format by name, summed over their label sets; those that are there."""
    found: dict[bytes, float] = {}
    for name, value in _SAMPLE.findall(body):
        if name in names:
            try:
                found[name] = found.get(name, 0.0) + float(value)
            except ValueError:
                continue
    return found
