"""Tests with many users: in a closed loop, or arriving by themselves; for a while, or long."""

from typing import Annotated, Literal

from pydantic import Field

from experiment.kinds.base import KIND, Cell, Counts, Kind, Name, PromptTokens, Rates, ReplyTokens, Work, apart, label


class Concurrency(Kind):
    """A closed loop: so many users at once, each of whom asks again as soon as the reply is there."""

    kind: Annotated[Literal["concurrency"], KIND]
    name: Name = "concurrency"
    users: Counts = Field((1, 2, 3, 4, 6, 8), description="numbers of users at once")
    prompt_tokens: PromptTokens = 64
    output_tokens: ReplyTokens = 200
    requests: int = Field(2, ge=1, description="requests of each user, one after another")
    repeats: int = Field(3, ge=1, description="how often each number of users is measured")

    @property
    def cells(self) -> tuple[Cell, ...]:
        """See `Kind`."""
        return tuple(
            Cell(
                label(self.name, users),
                users,
                self.repeats,
                (Work(users * self.requests, self.prompt_tokens, self.output_tokens),),
                streams=users,
                chain=self.requests,
            )
            for users in self.users
        )


class OpenLoop(Kind):
    """Arrivals that wait for nobody: a Poisson process of a given rate, its moments fixed by the plan's seed."""

    kind: Annotated[Literal["open-loop"], KIND]
    name: Name = "open-loop"
    rates: Rates = Field((0.1, 0.2, 0.4), description="requests a second, on average")
    seconds: float = Field(120, gt=0, description="seconds during which requests arrive; all are waited for")
    prompt_tokens: PromptTokens = 64
    output_tokens: ReplyTokens = 200
    repeats: int = Field(3, ge=1, description="how often each rate is measured, each time at other moments")

    @property
    def cells(self) -> tuple[Cell, ...]:
        """See `Kind`."""
        return tuple(
            Cell(
                label(self.name, rate),
                rate,
                self.repeats,
                (Work(expected(rate, self.seconds), self.prompt_tokens, self.output_tokens),),
                streams=min(64, expected(rate, self.seconds)),
                lasts_s=self.seconds,
            )
            for rate in self.rates
        )


class Soak(Kind):
    """A closed loop for a long time: what changes in it is drift."""

    kind: Annotated[Literal["soak"], KIND]
    name: Name = "soak"
    users: int = Field(4, ge=1, description="users at once")
    seconds: float = Field(3600, gt=0, description="seconds during which they ask again")
    prompt_tokens: PromptTokens = 64
    output_tokens: ReplyTokens = 200
    repeats: int = Field(1, ge=1, description="how often that is measured")

    @property
    def cells(self) -> tuple[Cell, ...]:
        """See `Kind`; how many requests fit into the time is not known, so the work named is each user's first."""
        work = (Work(self.users, self.prompt_tokens, self.output_tokens),)
        return (Cell(self.name, None, self.repeats, work, streams=self.users, lasts_s=self.seconds),)


Victim = Literal["leader", "worker", "replica"]


class Loss(Kind):
    """A closed loop during which a pod is killed: what fails, for how long, and when all is as before."""

    kind: Annotated[Literal["loss"], KIND]
    name: Name = "loss"
    victims: Annotated[tuple[Victim, ...], apart] = Field(
        ("leader",), description="pods to kill, one a repeat: leader, worker (of a split), replica (one of several)"
    )
    users: int = Field(4, ge=1, description="users at once")
    after_s: float = Field(20, gt=0, description="seconds of load before the pod is killed")
    seconds: float = Field(900, gt=0, description="seconds of load after that")
    prompt_tokens: PromptTokens = 64
    output_tokens: ReplyTokens = 50
    repeats: int = Field(1, ge=1, description="how often each pod is killed")

    @property
    def cells(self) -> tuple[Cell, ...]:
        """See `Kind`."""
        work = (Work(self.users, self.prompt_tokens, self.output_tokens),)
        return tuple(
            Cell(label(self.name, victim), victim, self.repeats, work, self.users, 1, self.after_s + self.seconds)
            for victim in self.victims
        )


def expected(rate: float, seconds: float) -> int:
    """Return how many arrivals are expected, at least one."""
    return max(1, round(rate * seconds))
