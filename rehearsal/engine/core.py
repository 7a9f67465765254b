"""The engine's loop, as vLLM runs it: schedule, send to the stages, take the oldest result back.

With several stages as many steps may be in flight as there are stages. The loop fills the free places first and only
then waits for the oldest step; a step may be empty, when all requests are in flight already, and takes a place even
so. From this alone come the two modes of a split engine: a request that arrives between one call of the scheduler and
the next opens a step of its own, any other joins the step that comes back next, and nothing divides a step again.

The loop is a generator that yields until when nothing can happen; whoever drives it (`simulation` in virtual time,
`driver` in real time) submits what arrives until then and goes on. It never reads a clock.
"""

import heapq
import math
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from rehearsal.engine.pipeline import Pipeline
from rehearsal.engine.request import FinishReason, Request
from rehearsal.engine.scheduler import Chunk, Outcome, Scheduler


@dataclass(frozen=True)
class Step:
    """A step that has come back: when, what it computed, and what came of it."""

    number: int
    at_s: float
    chunks: list[Chunk]
    outcome: Outcome


@dataclass
class _Flight:
    number: int
    chunks: list[Chunk]
    back_s: float


@dataclass
class Core:
    """The engine's state. `on_step` hears of each step with output, `on_send` of each step sent to the stages."""

    scheduler: Scheduler
    pipeline: Pipeline
    on_step: Callable[[Step], None] = lambda _: None
    on_send: Callable[[int, list[Chunk]], None] = lambda _number, _chunks: None
    # Steps that other ranks have confirmed; None if there are none to ask.
    confirmed: dict[int, float] | None = None
    now_s: float = 0.0
    _arrivals: list[tuple[float, int, Request]] = field(default_factory=list)
    _flights: deque[_Flight] = field(default_factory=deque)
    _sent: int = 0
    _order: int = 0
    _idle: bool = True

    def __post_init__(self) -> None:
        self._loop = self._run()
        self.wake_s = next(self._loop)

    @property
    def unfinished(self) -> int:
        """Requests that wait, run or are on their way from the API server."""
        return len(self._arrivals) + len(self.scheduler.waiting) + len(self.scheduler.running)

    def submit(self, request: Request, at_s: float) -> None:
        """Put a request into the engine's input queue at `at_s`, which is not before the last `advance`."""
        self._order += 1
        heapq.heappush(self._arrivals, (at_s, self._order, request))
        if self._idle:
            self.wake_s = self._arrivals[0][0]

    def abort(self, request: Request) -> None:
        """End a request now."""
        self._arrivals = [entry for entry in self._arrivals if entry[2] is not request]
        heapq.heapify(self._arrivals)
        self.scheduler.abort(request, FinishReason.ABORT)
        if self._idle:
            self.wake_s = self._arrivals[0][0] if self._arrivals else math.inf

    def confirm(self, number: int, at_s: float) -> None:
        """Note that the other ranks have done their part of step `number`."""
        if self.confirmed is not None:
            self.confirmed[number] = at_s
            self.wake_s = min(self.wake_s, at_s)

    def advance(self, until_s: float) -> None:
        """Let everything happen that happens until `until_s`. `wake_s` then says when the next thing does."""
        while self.wake_s <= until_s:
            self.wake_s = next(self._loop)

    def _run(self) -> Iterator[float]:
        profile = self.pipeline.profile
        places = self.pipeline.stages
        while True:
            self._idle = True
            while not self.scheduler.has_requests() and not self._flights:
                due = self._arrivals[0][0] if self._arrivals else math.inf
                if due > self.now_s:
                    yield due
                    if self._arrivals:
                        self.now_s = max(self.now_s, self._arrivals[0][0])
                self._take_arrivals()
            self._idle = False
            self._take_arrivals()
            if self.scheduler.has_requests():
                chunks = self.scheduler.schedule(self.now_s)
                self._send(chunks)
                self.now_s += profile.schedule_s
                yield self.now_s
                if len(self._flights) < places and (chunks or self.scheduler.has_requests()):
                    continue
            yield from self._take_back()

    def _take_arrivals(self) -> None:
        while self._arrivals and self._arrivals[0][0] <= self.now_s:
            at_s, _, request = heapq.heappop(self._arrivals)
            self.scheduler.add(request, at_s)

    def _send(self, chunks: list[Chunk]) -> None:
        if chunks:
            self._sent += 1
            self.on_send(self._sent, chunks)
            back = self.pipeline.enter(chunks, self.now_s)
        else:
            back = self.now_s  # nothing to compute; it is only behind the steps before it
        self._flights.append(_Flight(self._sent, chunks, back))

    def _take_back(self) -> Iterator[float]:
        flight = self._flights.popleft()
        if flight.back_s > self.now_s:
            yield flight.back_s
            self.now_s = flight.back_s
        if flight.chunks and self.confirmed is not None:
            while flight.number not in self.confirmed:
                yield math.inf
            self.now_s = max(self.now_s, self.confirmed.pop(flight.number))
        if not flight.chunks:
            return
        outcome = self.scheduler.update(flight.chunks, self.now_s)
        self.on_step(Step(flight.number, self.now_s, flight.chunks, outcome))
        for token in outcome.tokens:
            token.request.last_token_s = self.now_s
