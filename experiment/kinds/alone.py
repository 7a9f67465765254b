"""Tests with one request at a time, or none."""

from typing import Annotated, Literal

from pydantic import Field

from experiment.kinds.base import KIND, Cell, Counts, Kind, Name, PromptTokens, ReplyTokens, Work, label


class OneUser(Kind):
    """One user who streams one reply after another, each of a fixed length."""

    kind: Annotated[Literal["one-user"], KIND]
    name: Name = "one-user"
    prompt_tokens: PromptTokens = 64
    output_tokens: ReplyTokens = 200
    repeats: int = Field(8, ge=1, description="how many replies are measured, one after another")

    @property
    def cells(self) -> tuple[Cell, ...]:
        """See `Kind`."""
        return (Cell(self.name, None, self.repeats, (Work(1, self.prompt_tokens, self.output_tokens),)),)


class Idle(Kind):
    """The engine up and nothing asked of it: what it costs to be there."""

    kind: Annotated[Literal["idle"], KIND]
    name: Name = "idle"
    seconds: float = Field(60, gt=0, description="seconds without a request")
    repeats: int = Field(1, ge=1, description="how often that is measured")

    @property
    def cells(self) -> tuple[Cell, ...]:
        """See `Kind`."""
        return (Cell(self.name, None, self.repeats, (), streams=0, chain=0, lasts_s=self.seconds),)


class PromptLength(Kind):
    """Time to the first token against prompt length; every prompt is unlike all others."""

    kind: Annotated[Literal["prompt-length"], KIND]
    name: Name = "prompt-length"
    prompt_tokens: Counts = Field(
        (100, 500, 1000, 2000, 3500), description="lengths in tokens of the served model, nonce included"
    )
    output_tokens: int = Field(2, ge=1, description="length of every reply in tokens, fixed")
    repeats: int = Field(3, ge=1, description="how often each length is measured")

    @property
    def cells(self) -> tuple[Cell, ...]:
        """See `Kind`."""
        return tuple(
            Cell(label(self.name, tokens), tokens, self.repeats, (Work(1, tokens, self.output_tokens),))
            for tokens in self.prompt_tokens
        )
