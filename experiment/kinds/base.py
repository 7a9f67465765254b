"""What all kinds of tests have in common: a test is cut into cells, and a cell is measured several times.

Travels in the Job's zip and runs in the engine's image: standard library and pydantic only.
"""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Annotated

from pydantic import AfterValidator, Field, StringConstraints
from pydantic_core import PydanticCustomError

from experiment.strict import Strict

Slug = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", max_length=24)]
"""Lower-case letters, digits and inner hyphens: what may stand in a file name and in a Kubernetes name."""

KIND = Field(description='the kind of test, for example "one-user"')
Name = Annotated[Slug, Field(description="a name that no other test of the plan has")]
PromptTokens = Annotated[int, Field(ge=1, description="length of every prompt in tokens, nonce included")]
ReplyTokens = Annotated[int, Field(ge=2, description="length of every reply in tokens, fixed, at least 2")]


def _some_and_apart(values: tuple[float | str, ...]) -> tuple[float | str, ...]:
    if not values:
        raise PydanticCustomError("no_values", "nothing is given", {"remedy": "Give one value or more."})
    twice = sorted({str(value) for value in values if values.count(value) > 1})
    if twice:
        raise PydanticCustomError(
            "same_value",
            "{values} is given twice",
            {
                "values": ", ".join(twice),
                "remedy": "Give it once; repeats say how often it is measured.",
            },
        )
    return values


Counts = Annotated[tuple[Annotated[int, Field(ge=1)], ...], AfterValidator(_some_and_apart)]
"""Positive whole numbers, each once."""

Rates = Annotated[tuple[Annotated[float, Field(gt=0)], ...], AfterValidator(_some_and_apart)]
"""Requests a second, each once."""

apart = AfterValidator(_some_and_apart)


@dataclass(frozen=True)
class Work:
    """Requests of one length: what one repeat sends."""

    requests: int
    prompt_tokens: int
    output_tokens: int


@dataclass(frozen=True)
class Cell:
    """One setting of a test.

    Attributes:
        name: its records are filed under it; no other cell of the plan has it.
        value: what the test varies: a length, a number of users, a rate, a word; None if nothing.
        repeats: how often it is measured.
        work: what one repeat sends; of arrivals at random, what is expected.
        streams: requests in flight at once; of arrivals at random, as many as the client is calibrated for.
        chain: requests that wait for each other, at most.
        lasts_s: seconds of one repeat besides waiting for the requests of the chain.
    """

    name: str
    value: int | float | str | None
    repeats: int
    work: tuple[Work, ...]
    streams: int = 1
    chain: int = 1
    lasts_s: float = 0.0

    def longest_s(self, request_timeout_s: float) -> float:
        """Return the seconds after which all repeats are over, each tried once, if every request takes all its time."""
        return self.repeats * (self.lasts_s + self.chain * request_timeout_s)


class Kind(Strict):
    """A test. Its cells and their repeats are what is measured, each on its own."""

    @property
    @abstractmethod
    def cells(self) -> tuple[Cell, ...]:
        """What is to be measured."""

    @property
    def work(self) -> tuple[Work, ...]:
        """All that the test sends, repeats counted; the warm-up is not in it."""
        return tuple(
            Work(cell.repeats * work.requests, work.prompt_tokens, work.output_tokens)
            for cell in self.cells
            for work in cell.work
        )


def label(name: str, value: float | str) -> str:
    """Return the name of the cell of a test that has that value: `sweep-8`, `open-0-5` for half a request a second."""
    text = value if isinstance(value, str) else f"{value:g}"
    return f"{name}-{text.replace('.', '-').replace('+', '')}"
