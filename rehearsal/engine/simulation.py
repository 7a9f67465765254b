"""The engine in virtual time: whole runs of many clients in milliseconds, the same for the same seed."""

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field

from rehearsal.engine.core import Core, Step
from rehearsal.engine.frontend import FrontEnd
from rehearsal.engine.kvcache import BlockPool
from rehearsal.engine.pipeline import Pipeline
from rehearsal.engine.profile import Profile
from rehearsal.engine.request import Request, Sampling, Writer
from rehearsal.engine.scheduler import Limits, Scheduler
from rehearsal.engine.tokenizer import Tokenizer


@dataclass
class Stream:
    """What a client saw of one request: when it was sent, and when each token came."""

    request: Request
    sent_s: float
    at_s: list[float] = field(default_factory=list)

    @property
    def ttft_s(self) -> float:
        """Time to the first token."""
        return self.at_s[0] - self.sent_s

    @property
    def gaps_s(self) -> list[float]:
        """The times between tokens."""
        return [b - a for a, b in zip(self.at_s, self.at_s[1:], strict=False)]


class Simulation:
    """An engine of `stages` stages with virtual clients."""

    def __init__(
        self,
        profile: Profile,
        *,
        stages: int = 1,
        seed: int = 0,
        blocks: int = 10_000,
        max_num_batched_tokens: int | None = None,
        max_model_len: int = 4096,
    ) -> None:
        limits = Limits(
            max_num_batched_tokens=max_num_batched_tokens or 2048 * stages,
            max_num_seqs=128 * stages,
            max_model_len=max_model_len,
        )
        pool = BlockPool(blocks)
        scheduler = Scheduler(limits, pool, Writer(Tokenizer()))
        self.core = Core(scheduler, Pipeline(profile, stages=stages, seed=seed), on_step=self._on_step)
        self.front = FrontEnd(profile, seed=seed)
        self.steps: list[Step] = []
        self._streams: dict[str, Stream] = {}
        self._actions: list[tuple[float, int, Callable[[], None]]] = []
        self._order = 0

    def at(self, when_s: float, action: Callable[[], None]) -> None:
        """Do `action` at `when_s`."""
        self._order += 1
        heapq.heappush(self._actions, (when_s, self._order, action))

    def send(self, prompt: list[int], output_tokens: int, at_s: float) -> Stream:
        """Let a client send a request at `at_s` that generates exactly `output_tokens`."""
        sampling = Sampling(max_tokens=output_tokens, min_tokens=output_tokens, ignore_eos=True)
        request = Request(id=f"r{len(self._streams)}", prompt=prompt, sampling=sampling, arrival_s=at_s)
        stream = self._streams[request.id] = Stream(request, at_s)
        self.at(at_s, lambda: self.core.submit(request, self.front.admit(len(prompt), at_s)))
        return stream

    def run(self) -> None:
        """Let time pass until nothing is left to happen."""
        while self._actions or self.core.unfinished:
            if self._actions and self._actions[0][0] <= self.core.wake_s:
                when_s, _, action = heapq.heappop(self._actions)
                self.core.advance(when_s)
                action()
            else:
                self.core.advance(self.core.wake_s)

    def _on_step(self, step: Step) -> None:
        if step.outcome.tokens:
            self.steps.append(step)
        for token in step.outcome.tokens:
            self._streams[token.request.id].at_s.append(step.at_s)
