"""A generation request inside the engine: what was asked, and how far it has come."""

import random
from dataclasses import dataclass, field
from enum import StrEnum

from rehearsal.engine.kvcache import BlockTable
from rehearsal.engine.tokenizer import END_OF_TEXT, Tokenizer, word


class FinishReason(StrEnum):
    """Why a request ended, by vLLM's names."""

    STOP = "stop"
    LENGTH = "length"
    ABORT = "abort"
    ERROR = "error"


@dataclass(frozen=True, kw_only=True)
class Sampling:
    """What a request asks of its output. `end_of_text` is the probability of the model ending it, per token."""

    max_tokens: int
    min_tokens: int = 0
    ignore_eos: bool = False
    stop_token_ids: frozenset[int] = frozenset()
    seed: int = 0
    end_of_text: float = 0.0


@dataclass
class Copies:
    """The sequences that one prompt was asked for (`n`): how many, how many still run, the longest so far."""

    count: int
    left: int
    longest: int = 0


@dataclass(kw_only=True, eq=False)
class Request:
    """One sequence to generate. Times are on the engine's clock, seconds."""

    id: str
    prompt: list[int]
    sampling: Sampling
    arrival_s: float
    output: list[int] = field(default_factory=list)
    computed: int = 0
    in_flight: int = 0
    table: BlockTable = field(default_factory=BlockTable)
    cached_at_first: int | None = None
    preemptions: int = 0
    queued_s: float = 0.0
    scheduled_s: float | None = None
    first_token_s: float | None = None
    last_token_s: float = 0.0
    finish: FinishReason | None = None
    stop_reason: int | None = None
    copies: Copies = field(default_factory=lambda: Copies(1, 1))

    @property
    def tokens(self) -> int:
        """Prompt and output so far."""
        return len(self.prompt) + len(self.output)

    def token_ids(self) -> list[int]:
        """Return prompt and output so far."""
        return self.prompt + self.output


@dataclass(frozen=True)
class Writer:
    """Makes up the tokens of an answer, always the same for the same seed and prompt."""

    tokenizer: Tokenizer

    def next_token(self, request: Request) -> int:
        """Return the token that follows; it may be the end of text where that is allowed."""
        position = len(request.output)
        sampling = request.sampling
        # One small generator a token: independent of how the tokens of several requests interleave.
        dice = random.Random(f"{sampling.seed}/{request.prompt[-8:]}/{position}")  # noqa: S311
        may_end = not sampling.ignore_eos and position >= sampling.min_tokens
        if may_end and dice.random() < sampling.end_of_text:
            return END_OF_TEXT
        return self.tokenizer.encode(word(dice.randrange(4900)), special=False)[0]


def finished(request: Request, token: int) -> tuple[FinishReason, int | None] | None:
    """Say whether `token`, just appended, ends the request, and the stop token it ended by."""
    sampling = request.sampling
    if len(request.output) >= sampling.min_tokens:
        if token == END_OF_TEXT and not sampling.ignore_eos:
            return FinishReason.STOP, None
        if token in sampling.stop_token_ids:
            return FinishReason.STOP, token
    if len(request.output) >= sampling.max_tokens:
        return FinishReason.LENGTH, None
    return None
