"""Which requests get how many tokens in the next step: vLLM's scheduler, without what is not used here.

Running requests first, in order of arrival, each as many tokens as it lacks (one for a decode, up to the rest of the
prompt for a prefill) within the step's budget; then waiting ones while budget, places and blocks last. A running
request that finds no block preempts the youngest one, which starts again later.
"""

from collections import deque
from dataclasses import dataclass, field

from rehearsal.engine.kvcache import BlockPool
from rehearsal.engine.request import FinishReason, Request, Writer, finished


@dataclass(frozen=True)
class Limits:
    """What one step, and the whole server, may hold."""

    max_num_batched_tokens: int
    max_num_seqs: int
    max_model_len: int
    long_prefill_token_threshold: int = 0
    chunked_prefill: bool = True


@dataclass(frozen=True)
class Chunk:
    """A request's part of a step: `tokens` of it, after `before`; `last` if the step gives it a new token."""

    request: Request
    tokens: int
    before: int
    last: bool
    epoch: int

    @property
    def is_prefill(self) -> bool:
        """Whether it computes more than the token that was generated last."""
        return self.tokens > 1 or not self.request.output


@dataclass(frozen=True)
class Token:
    """A token that a step gave to a request."""

    request: Request
    token: int
    first: bool


@dataclass
class Outcome:
    """What a finished step changed."""

    tokens: list[Token] = field(default_factory=list)
    ended: list[Request] = field(default_factory=list)
    prompt_tokens: int = 0


@dataclass
class Counters:
    """What the scheduler has counted since the start, in tokens where not said otherwise."""

    prefix_queries: int = 0
    prefix_hits: int = 0
    preemptions: int = 0


class Scheduler:
    """Keeps the queues of waiting and running requests and the KV cache."""

    def __init__(self, limits: Limits, pool: BlockPool, writer: Writer) -> None:
        self.limits = limits
        self.pool = pool
        self.writer = writer
        self.counters = Counters()
        self.waiting: deque[Request] = deque()
        self.running: list[Request] = []

    def has_requests(self) -> bool:
        """Whether any request is unfinished."""
        return bool(self.waiting or self.running)

    def add(self, request: Request, now: float) -> None:
        """Queue a request."""
        request.queued_s = now
        self.waiting.append(request)

    def schedule(self, now: float) -> list[Chunk]:
        """Choose the next step's work and take blocks for it. It may be nothing: all may be in flight."""
        budget = self.limits.max_num_batched_tokens
        chunks: list[Chunk] = []
        preempted = False
        position = 0
        while position < len(self.running) and budget > 0:
            request = self.running[position]
            wanted = self._wanted(request, budget)
            if wanted == 0:
                position += 1
                continue
            while not self.pool.grow(request.table, request.computed + wanted):
                preempted = True
                victim = self.running.pop()
                self._preempt(victim)
                if victim is request:
                    break
            else:
                chunks.append(self._take(request, wanted))
                budget -= wanted
                position += 1
        while self.waiting and budget > 0 and not preempted:
            if len(self.running) >= self.limits.max_num_seqs:
                break
            request = self.waiting[0]
            if request.in_flight:
                break  # preempted while a step of it is in flight; it comes back when that is done
            chunk = self._admit(request, budget, now)
            if chunk is None:
                break
            chunks.append(chunk)
            budget -= chunk.tokens
        return chunks

    def _wanted(self, request: Request, budget: int) -> int:
        wanted = request.tokens - request.computed
        threshold = self.limits.long_prefill_token_threshold
        if threshold and len(self.running) + len(self.waiting) > 1:
            wanted = min(wanted, threshold)
        return min(wanted, budget)

    def _admit(self, request: Request, budget: int, now: float) -> Chunk | None:
        ids = request.token_ids()
        hit = self.pool.hit(ids)
        if not self.pool.can_hold(len(ids), hit):
            return None
        cached = len(hit) * self.pool.block_size
        wanted = len(ids) - cached
        if wanted > budget and not self.limits.chunked_prefill:
            return None
        request.computed = cached
        wanted = self._wanted(request, budget)
        self.pool.share(request.table, hit)
        self.pool.grow(request.table, cached + wanted)
        self.counters.prefix_queries += len(ids) if self.pool.caching else 0
        self.counters.prefix_hits += cached
        if request.cached_at_first is None:
            request.cached_at_first = cached
        if request.scheduled_s is None:
            request.scheduled_s = now
        self.waiting.popleft()
        self.running.append(request)
        return self._take(request, wanted)

    def _take(self, request: Request, tokens: int) -> Chunk:
        before = request.computed
        request.computed += tokens
        request.in_flight += 1
        last = request.computed == request.tokens
        return Chunk(request, tokens, before, last, request.preemptions)

    def _preempt(self, request: Request) -> None:
        self.pool.release(request.table)
        request.computed = 0
        request.preemptions += 1
        self.counters.preemptions += 1
        self.waiting.appendleft(request)

    def update(self, chunks: list[Chunk], now: float) -> Outcome:
        """Take in a finished step: new tokens, blocks that became whole, requests that ended."""
        outcome = Outcome()
        for chunk in chunks:
            request = chunk.request
            request.in_flight -= 1
            if request.finish is not None or chunk.epoch != request.preemptions:
                continue  # aborted or preempted meanwhile
            block = self.pool.block_size
            done = chunk.before + chunk.tokens
            if done // block != chunk.before // block:
                self.pool.keep(request.table, request.token_ids(), done)
            if not chunk.last:
                continue
            self._append(request, now, outcome)
        return outcome

    def _append(self, request: Request, now: float, outcome: Outcome) -> None:
        token = self.writer.next_token(request)
        first = not request.output
        if first:
            request.first_token_s = now
            outcome.prompt_tokens += len(request.prompt)
        request.output.append(token)
        end = finished(request, token)
        if end is not None:
            request.finish, request.stop_reason = end
            self._remove(request)
            outcome.ended.append(request)
        outcome.tokens.append(Token(request, token, first))

    def abort(self, request: Request, reason: FinishReason = FinishReason.ABORT) -> None:
        """End a request that its client has left; nothing happens if it has ended already."""
        if request.finish is None:
            request.finish = reason
            self._remove(request)

    def _remove(self, request: Request) -> None:
        if request in self.running:
            self.running.remove(request)
        elif request in self.waiting:
            self.waiting.remove(request)
        self.pool.release(request.table)
