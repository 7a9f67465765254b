"""The engine in real time: lets the simulated loop run along the monotonic clock and hands its tokens out."""

import asyncio
import math
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass

from rehearsal.engine.core import Core, Step
from rehearsal.engine.errors import ApiError, dead_engine
from rehearsal.engine.frontend import FrontEnd
from rehearsal.engine.request import Copies, FinishReason, Request, Sampling
from rehearsal.engine.scheduler import Token


@dataclass(frozen=True)
class Delta:
    """One token of a request, or the end of one that was aborted (no token). `at_s` is the engine's own time."""

    tokens: tuple[int, ...]
    finish: FinishReason | None
    stop_reason: int | None
    at_s: float


Watch = Callable[[int], bool]
"""Hears of each new token of a request as it comes, and says whether the text has now reached a stop string."""


class Engine:
    """Takes requests and yields their tokens when the simulated engine has them."""

    def __init__(
        self,
        core: Core,
        front: FrontEnd,
        clock: Callable[[], float],
        *,
        on_step: Callable[[Step], None] = lambda _: None,
        step_timeout_s: float = 300.0,
    ) -> None:
        self.core = core
        self.front = front
        self.clock = clock
        self.dead = False
        self.closing = False
        self._on_step = on_step
        self._step_timeout_s = step_timeout_s
        self._queues: dict[str, asyncio.Queue[Delta | ApiError]] = {}
        self._requests: dict[str, Request] = {}
        self._watches: dict[str, Watch] = {}
        self._stir = asyncio.Event()
        self._idle = asyncio.Event()
        self._idle.set()
        self._driving: asyncio.Task[None] | None = None
        core.on_step = self._handle
        core.now_s = clock()

    def start(self) -> "asyncio.Task[None]":
        """Let the loop run; the task ends if the engine dies."""
        self._driving = asyncio.create_task(self.run())
        return self._driving

    async def halt(self) -> None:
        """Stop the loop."""
        if self._driving is not None:
            self._driving.cancel()
            await asyncio.gather(self._driving, return_exceptions=True)

    async def run(self) -> None:
        """Drive the loop until the engine dies of a step that never came back."""
        hung_since = math.inf
        while not self.dead:
            self._stir.clear()
            now = self.clock()
            self.core.advance(now)
            waiting_for_rank = self.core.unfinished and math.isinf(self.core.wake_s)
            hung_since = min(hung_since, now) if waiting_for_rank else math.inf
            if now - hung_since >= self._step_timeout_s:
                self.die()
                return
            wake = min(self.core.wake_s, hung_since + self._step_timeout_s)
            delay = None if math.isinf(wake) else max(0.0, wake - self.clock())
            try:
                async with asyncio.timeout(delay):
                    await self._stir.wait()
            except TimeoutError:
                continue

    async def generate(
        self,
        request_id: str,
        prompt: Sequence[int],
        sampling: Sampling,
        copies: Copies | None = None,
        watch: Watch | None = None,
    ) -> AsyncGenerator[Delta, None]:
        """Yield the tokens of a new request as they come; leaving the iterator early aborts the request.

        `watch` ends it at a stop string.

        Raises:
            ApiError: The engine is dead, or dies meanwhile.
        """
        if self.dead:
            raise dead_engine()
        now = self.clock()
        if self.closing:
            yield Delta((), FinishReason.ABORT, None, now)
            return
        request = Request(
            id=request_id,
            prompt=list(prompt),
            sampling=sampling,
            arrival_s=now,
            copies=copies or Copies(1, 1),
        )
        queue: asyncio.Queue[Delta | ApiError] = asyncio.Queue()
        self._queues[request_id] = queue
        self._requests[request_id] = request
        if watch is not None:
            self._watches[request_id] = watch
        self._idle.clear()
        self.core.advance(now)
        self.core.submit(request, self.front.admit(len(prompt), now))
        self._stir.set()
        try:
            while True:
                delta = await queue.get()
                if isinstance(delta, ApiError):
                    raise delta
                yield delta
                if delta.finish is not None:
                    return
        finally:
            self._forget(request)

    def cached_tokens(self, request_id: str) -> int:
        """Return how many prompt tokens of a running request came from the prefix cache."""
        return self._requests[request_id].cached_at_first or 0

    def abort_all(self) -> None:
        """End every request now; their streams finish with the reason `abort`."""
        self.core.advance(self.clock())
        for request in list(self._requests.values()):
            self.core.abort(request)
            self._queues[request.id].put_nowait(Delta((), FinishReason.ABORT, None, self.clock()))

    def die(self) -> None:
        """Stop for good: every request fails, and so does every later one."""
        self.dead = True
        for queue in self._queues.values():
            queue.put_nowait(dead_engine())
        self._stir.set()

    def confirm(self, number: int) -> None:
        """Note that the other ranks have done their part of a step."""
        self.core.confirm(number, self.clock())
        self._stir.set()

    async def drained(self) -> None:
        """Wait until no request is left."""
        await self._idle.wait()

    def _handle(self, step: Step) -> None:
        # vLLM's front end finds a stop string while the next step runs, and counts nothing of a request after it.
        # So it ends here, before anything of the next step; the step itself takes its time all the same.
        for token in step.outcome.tokens:
            self._look(token, step)
        self._on_step(step)
        for token in step.outcome.tokens:
            request = token.request
            queue = self._queues.get(request.id)
            if queue is not None:
                queue.put_nowait(Delta((token.token,), request.finish, request.stop_reason, step.at_s))

    def _look(self, token: Token, step: Step) -> None:
        request = token.request
        watch = self._watches.get(request.id)
        if watch is None or request.finish is FinishReason.STOP or not watch(token.token):
            return
        if request.finish is None:
            self.core.scheduler.abort(request, FinishReason.STOP)
            step.outcome.ended.append(request)
        request.finish = FinishReason.STOP

    def _forget(self, request: Request) -> None:
        if request.finish is None:
            self.core.abort(request)
            self._stir.set()
        del self._queues[request.id]
        del self._requests[request.id]
        self._watches.pop(request.id, None)
        if not self._queues:
            self._idle.set()
