"""One request: what was sent, when what came back, and the figures that follow from it."""

import math
from itertools import pairwise
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from experiment.measure.part import Amount, Count, Part, Seconds


class PromptShape(Part):
    """What two prompts must share to be comparable: all but the nonce."""

    prompt_tokens: Count
    nonce_tokens: Count
    output_tokens: Count
    shape_hash: str


class Stamps(Part):
    """Moments of one request, in the order in which they must have happened."""

    due_s: Seconds | None = Field(None, description="when it was to be sent; none if nothing said when")
    sent_s: Seconds
    headers_s: Seconds | None
    chunks_s: tuple[Seconds, ...]
    end_s: Seconds | None

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        moments = [self.due_s, self.sent_s, self.headers_s, *self.chunks_s, self.end_s]
        known = [moment for moment in moments if moment is not None]
        if any(later < earlier for earlier, later in pairwise(known)):
            raise ValueError("stamps are not in order: due, sent, headers, chunks, end")
        return self


class Tokens(Part):
    """Counts of the server's own `usage`; the rest only where the server tells it."""

    prompt: Count
    output: Count
    cached: Count | None
    in_chunks: tuple[Count, ...] | None = Field(None, description="tokens of each chunk, by usage that grows with them")


class Figures(Part):
    """Derived from stamps and token count alone, by FORMULAS; none where a figure does not exist."""

    ttft_s: Seconds
    gaps_s: tuple[Seconds, ...]
    longest_gap_s: Seconds | None
    itl_s: Seconds | None
    tpot_s: Seconds | None
    e2e_s: Seconds
    effective_s: Seconds
    tokens_per_s: Seconds

    @classmethod
    def of(cls, stamps: Stamps, output_tokens: int) -> Self:
        """Compute all figures of a finished request.

        Raises:
            ValueError: no chunk, no end, or an end that is not after the send.
        """
        if not stamps.chunks_s or stamps.end_s is None or stamps.end_s <= stamps.sent_s:
            raise ValueError("a request without a chunk or without an end has no figures")
        first, last = stamps.chunks_s[0], stamps.chunks_s[-1]
        gaps = tuple(later - earlier for earlier, later in pairwise(stamps.chunks_s))
        e2e = stamps.end_s - stamps.sent_s
        return cls(
            ttft_s=first - stamps.sent_s,
            gaps_s=gaps,
            longest_gap_s=max(gaps, default=None),
            itl_s=math.fsum(gaps) / len(gaps) if gaps else None,
            tpot_s=(last - first) / (output_tokens - 1) if output_tokens > 1 else None,
            e2e_s=e2e,
            effective_s=stamps.end_s - (stamps.sent_s if stamps.due_s is None else stamps.due_s),
            tokens_per_s=output_tokens / e2e,
        )


class Reply(Part):
    """A request that came to its proper end."""

    result: Literal["finished"] = "finished"
    finish_reason: str
    tokens: Tokens
    stamps: Stamps
    figures: Figures

    @model_validator(mode="after")
    def _figures_follow(self) -> Self:
        if self.figures != Figures.of(self.stamps, self.tokens.output):
            raise ValueError("the figures do not follow from the stamps: the record was changed after it was written")
        counts = self.tokens.in_chunks
        if counts is not None and (len(counts) != len(self.stamps.chunks_s) or sum(counts) != self.tokens.output):
            raise ValueError("the tokens of the chunks are not those of the reply")
        return self


class Failure(Part):
    """A request that did not: `reason` is a sentence, the stamps hold what came before."""

    result: Literal["failed"] = "failed"
    reason: str
    status: int | None = Field(description="HTTP status, if an answer began")
    stamps: Stamps | None = Field(description="none if nothing was sent")


Role = Literal["stream", "long-prompt", "first-turn", "second-turn", "control"]


class Prefix(Part):
    """What the servers' prefix caches counted around one request that ran alone, in tokens."""

    queries: Amount
    hits: Amount


class Request(Part):
    """One request of a repeat.

    `id` is what the server was told to call it (X-Request-Id); `connection` numbers the connections of the repeat;
    `address` is where it was sent to, `served_by` the replica that the servers' own counters say answered it (none
    where they do not tell).
    """

    id: str
    user: Count
    role: Role = "stream"
    connection: Count
    address: str
    served_by: str | None = None
    prefix: Prefix | None = None
    prompt: PromptShape
    outcome: Annotated[Reply | Failure, Field(discriminator="result")]
