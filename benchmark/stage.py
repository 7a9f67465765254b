"""Where a test is played: users with connections that are open before they are needed, and all that was sent.

Nothing is interpreted while requests stream: what came is kept with its stamps, and read when the test is over.
"""

import asyncio
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field

from benchmark.completion import read_answer
from benchmark.connection import Clock, Connection, Exchange
from benchmark.endpoint import ASK_TIMEOUT_S, Endpoint
from benchmark.killer import Killed, Killer
from benchmark.prompt import PromptSource
from benchmark.scrape import Scraper
from experiment.measure.request import Failure, Prefix, PromptShape, Reply, Request, Role

LEAD_S = 0.5
"""Before a request that is due at a moment, its connection is opened; servers close one that idles for seconds."""


@dataclass(frozen=True)
class Outgoing:
    """A request made ready beforehand."""

    id: str
    data: bytes
    prompt: tuple[int, ...]
    shape: PromptShape
    role: Role = "stream"


@dataclass
class Sent:
    """A request that was sent, or that no connection could be had for; `exchange` is none while it is on its way."""

    user: int
    connection: int
    address: str
    outgoing: Outgoing
    due_s: float | None
    exchange: Exchange | None = None
    opened: bool = True
    served_by: str | None = None
    prefix: Prefix | None = None

    def seen(self, stage: "Stage") -> None:
        """Note which replica answers: the one that it was sent to, or that was seen behind its connection."""
        if self.served_by is None:
            direct = self.address in {replica.url for replica in stage.replicas}
            self.served_by = self.address if direct else stage.behind.get(self.connection)

    @property
    def late_s(self) -> float | None:
        """How late it was sent; none if it was not, or was not due at a moment."""
        if self.due_s is None or self.exchange is None or not self.opened:
            return None
        return max(0.0, self.exchange.sent_s - self.due_s)

    @property
    def read_late_s(self) -> list[float | None]:
        """How long after the kernel each piece of the answer was read; none for what the kernel did not stamp."""
        return self.exchange.late_s if self.exchange is not None else []

    def read(self) -> Request:
        """Interpret what came."""
        shape = self.outgoing.shape
        outcome: Reply | Failure
        if self.exchange is None or not self.opened:
            reason = "never sent" if self.exchange is None else f"no connection: {self.exchange.error}"
            outcome = Failure(reason=reason, status=None, stamps=None)
        else:
            outcome = read_answer(self.exchange, shape.output_tokens, shape.prompt_tokens, self.due_s)
        return Request(
            id=self.outgoing.id,
            user=self.user,
            role=self.outgoing.role,
            connection=self.connection,
            address=self.address,
            served_by=self.served_by,
            prefix=self.prefix,
            prompt=shape,
            outcome=outcome,
        )


@dataclass
class Stage:
    """What a runner plays on.

    Attributes:
        endpoint: the address under test.
        replicas: addresses of the replicas themselves, if they are known.
        model: served name.
        ids: tokens to make prompts of.
        seed: of prompts and moments.
        clock: of all stamps.
        timeout_s: of one request.
        scraper: reads the servers' counters.
        killer: kills pods, if anybody may.
        killed: which one was, and when that was ordered.
        sent: all requests so far.
        opened: this side of each connection to the address under test, by the connection's number.
        behind: address of the replica that is behind such a connection, where it was seen.
        streaming: how many requests are on their way now.
    """

    endpoint: Endpoint
    replicas: Sequence[Endpoint]
    model: str
    ids: Sequence[int]
    seed: str
    clock: Clock
    timeout_s: float
    scraper: Scraper
    killer: Killer | None = None
    sent: list[Sent] = field(default_factory=list)
    killed: Killed | None = None
    opened: dict[int, tuple[str, int]] = field(default_factory=dict)
    behind: dict[int, str] = field(default_factory=dict)
    connections: int = 0
    streaming: int = 0
    lines: list["Line"] = field(default_factory=list)

    def source(self, prompt_tokens: int, output_tokens: int) -> PromptSource:
        """Return what makes prompts of that length, unlike each other from the first token on."""
        return PromptSource(self.seed, prompt_tokens, output_tokens, self.ids)

    def outgoing(self, source: PromptSource, role: Role = "stream") -> Outgoing:
        """Make a request ready."""
        return self.of_tokens(source.draw(), source.shape, role)

    def of_tokens(
        self, prompt: Sequence[int], shape: PromptShape, role: Role = "stream", *, ids: bool = False
    ) -> Outgoing:
        """Make a request ready whose prompt is given; with `ids` the answer names its tokens."""
        name = secrets.token_hex(8)
        data = self.endpoint.completion(self.model, list(prompt), shape.output_tokens, ids=ids, request_id=name)
        return Outgoing(name, data, tuple(prompt), shape, role)

    def line(self, user: int, endpoint: Endpoint | None = None) -> "Line":
        """Return a user's way to the address under test, or to another."""
        line = Line(self, user, endpoint or self.endpoint)
        self.lines.append(line)
        return line

    async def until(self, at_s: float) -> None:
        """Wait for a moment of the clock."""
        while (left_s := at_s - self.clock()) > 0:  # noqa: ASYNC110  a timer may come a moment early
            await asyncio.sleep(left_s)

    def close(self) -> None:
        """Close all connections at once."""
        for line in self.lines:
            line.close()


class Line:
    """One user's connection; made anew when the server has closed it."""

    def __init__(self, stage: Stage, user: int, endpoint: Endpoint) -> None:
        self._stage = stage
        self._user = user
        self._endpoint = endpoint
        self._connection: Connection | None = None
        self._number = 0

    async def ready(self, *, anew: bool = False) -> None:
        """Have a connection open that has answered once; a new one with `anew`.

        Raises:
            OSError: none can be had.
        """
        if self._connection is not None and self._connection.is_open and not anew:
            return
        self.close()
        self._stage.connections += 1
        self._number = self._stage.connections
        self._connection = await self._endpoint.open(min(self._stage.timeout_s, ASK_TIMEOUT_S))
        own = self._connection.own
        if own is not None and self._endpoint is self._stage.endpoint:
            self._stage.opened[self._number] = own

    async def send(self, outgoing: Outgoing, due_s: float | None = None) -> Sent:
        """Send a request, at a moment if one is given, and wait for its end, whatever that is."""
        stage = self._stage
        if due_s is not None:
            await stage.until(due_s - LEAD_S)
        sent = Sent(self._user, self._number, self._endpoint.url, outgoing, due_s)
        stage.sent.append(sent)
        try:
            await self.ready()
        except OSError as error:
            sent.opened = False
            sent.exchange = Exchange(sent_s=stage.clock(), error=str(error) or type(error).__name__)
            return sent
        sent.connection = self._number
        if due_s is not None:
            await stage.until(due_s)
        connection = self._connection
        if connection is None:
            raise RuntimeError("a line that is ready has a connection")
        stage.streaming += 1
        try:
            sent.exchange = await connection.exchange(outgoing.data, stage.timeout_s)
        except asyncio.CancelledError:
            sent.exchange = connection.latest
            raise
        finally:
            stage.streaming -= 1
        return sent

    @property
    def arrived(self) -> int:
        """How many pieces of the latest answer have come."""
        latest = self._connection.latest if self._connection is not None else None
        return len(latest.arrivals) if latest is not None else 0

    def close(self) -> None:
        """Close the connection at once."""
        if self._connection is not None:
            self._connection.abort()
            self._connection = None


def went_well(sent: Sent) -> bool:
    """Say whether an answer came to its end at all; what is in it is looked at later."""
    return sent.exchange is not None and sent.exchange.error is None and sent.exchange.status == 200
