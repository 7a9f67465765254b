"""Tests of what users do to each other, and of what one turn of a conversation does for the next."""

from typing import Annotated, Literal

from pydantic import Field

from experiment.kinds.base import KIND, Cell, Counts, Kind, Name, PromptTokens, Work, apart, label


class Interference(Kind):
    """One user's stream, and into it a long prompt by another user."""

    kind: Annotated[Literal["interference"], KIND]
    name: Name = "interference"
    stream_prompt_tokens: int = Field(64, ge=1, description="length of the stream's prompt in tokens, nonce included")
    stream_tokens: int = Field(256, ge=8, description="length of the stream in tokens, fixed")
    after_s: float = Field(
        4, gt=0, description="seconds from the start of the stream to the long prompt; half of the stream is enough"
    )
    prompt_tokens: Counts = Field((3500,), description="lengths of the long prompt in tokens, nonce included")
    output_tokens: int = Field(2, ge=1, description="length of the reply to it in tokens, fixed")
    repeats: int = Field(3, ge=1, description="how often each length is measured")

    @property
    def cells(self) -> tuple[Cell, ...]:
        """See `Kind`."""
        stream = Work(1, self.stream_prompt_tokens, self.stream_tokens)
        return tuple(
            Cell(
                label(self.name, tokens),
                tokens,
                self.repeats,
                (stream, Work(1, tokens, self.output_tokens)),
                streams=2,
                lasts_s=self.after_s,
            )
            for tokens in self.prompt_tokens
        )


Route = Literal["service", "replica"]


class FollowUp(Kind):
    """A second turn that repeats the first and its reply, with a cold control of the same length.

    Attributes:
        route: "service" sends each turn over a new connection to the address under test, which may bring it to another
            replica than the turn before; "replica" sends both turns to one replica's own address.
    """

    kind: Annotated[Literal["follow-up"], KIND]
    name: Name = "follow-up"
    routes: Annotated[tuple[Route, ...], apart] = Field(
        ("service",), description="service: by the address under test; replica: both turns to one replica directly"
    )
    history_tokens: int = Field(2800, ge=16, description="length of the first turn's prompt in tokens, nonce included")
    reply_tokens: int = Field(32, ge=1, description="length of its reply in tokens, which the second turn repeats too")
    question_tokens: int = Field(15, ge=1, description="tokens that the second turn adds")
    output_tokens: int = Field(16, ge=1, description="length of the second reply in tokens, and of the control's")
    repeats: int = Field(3, ge=1, description="how many conversations are measured")

    @property
    def second_tokens(self) -> int:
        """Length of the second turn's prompt, and of the control's."""
        return self.history_tokens + self.reply_tokens + self.question_tokens

    @property
    def cells(self) -> tuple[Cell, ...]:
        """See `Kind`."""
        work = (
            Work(1, self.history_tokens, self.reply_tokens),
            Work(2, self.second_tokens, self.output_tokens),
        )
        return tuple(Cell(label(self.name, route), route, self.repeats, work, chain=3) for route in self.routes)


Start = Literal["together", "staggered", "returning"]


class Modes(Kind):
    """The same load begun in different ways, many times: in which mode a split engine then runs, and how fast that is.

    Two stages may have all requests in one batch, or in two that overlap; which it is, is a matter of arrival.
    """

    kind: Annotated[Literal["modes"], KIND]
    name: Name = "modes"
    streams: int = Field(4, ge=2, description="equal streams at once")
    starts: Annotated[tuple[Start, ...], apart] = Field(
        ("together", "staggered", "returning"),
        description="how they begin: together; staggered; or together, and one leaves half-way and returns at once",
    )
    stagger_s: float = Field(0.03, gt=0, description="seconds from one start to the next, where they are staggered")
    prompt_tokens: PromptTokens = 16
    output_tokens: int = Field(80, ge=8, description="length of every stream in tokens, fixed")
    repeats: int = Field(12, ge=1, description="how often each way is measured")

    @property
    def cells(self) -> tuple[Cell, ...]:
        """See `Kind`."""
        whole = Work(self.streams, self.prompt_tokens, self.output_tokens)
        halves = (
            Work(self.streams - 1, self.prompt_tokens, self.output_tokens),
            Work(2, self.prompt_tokens, self.output_tokens // 2),
        )
        return tuple(
            Cell(
                label(self.name, start),
                start,
                self.repeats,
                halves if start == "returning" else (whole,),
                streams=self.streams,
                chain=2 if start == "returning" else 1,
                lasts_s=self.stagger_s * self.streams if start == "staggered" else 0.0,
            )
            for start in self.starts
        )
