"""What the benchmark is to do: its plan, as the Job reads it.

Travels in the Job's zip and runs in the engine's image: standard library and pydantic only.
"""

import hashlib
import json
import random
from itertools import chain
from typing import Annotated, Literal

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from experiment.kinds.alone import Idle, OneUser, PromptLength
from experiment.kinds.base import Cell, Slug
from experiment.kinds.loads import Concurrency, Loss, OpenLoop, Soak
from experiment.kinds.profiles import Profiles
from experiment.kinds.sharing import FollowUp, Interference, Modes
from experiment.strict import Strict

__all__ = ["Cell", "OneUser", "Plan", "Slug", "Test", "Tests"]

Test = Annotated[
    Idle | OneUser | PromptLength | Concurrency | OpenLoop | Interference | FollowUp | Profiles | Loss | Soak | Modes,
    Field(discriminator="kind"),
]


def _some_named_apart(tests: tuple[Test, ...]) -> tuple[Test, ...]:
    if not tests:
        raise PydanticCustomError("no_tests", "there is nothing to measure", {"remedy": "Name one test or more."})
    for what, names in (
        ("two tests are both named {name}", [test.name for test in tests]),
        ("records of two tests would both be named {name}", [cell.name for test in tests for cell in test.cells]),
    ):
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise PydanticCustomError(
                "same_name",
                what,  # one of two literals
                {
                    "name": ", ".join(twice),
                    "remedy": "Give each test a name of its own: its records are filed under it.",
                },
            )
    return tests


Tests = Annotated[tuple[Test, ...], AfterValidator(_some_named_apart)]


class Plan(Strict):
    """All that decides what the benchmark sends; two runs with equal hashes did the same work."""

    run: Slug = Field(description="run id: records are filed under it")
    model: str = Field(min_length=1, description="name under which the server serves the model")
    seed: int = Field(ge=0, description="seed of the prompts, of the order and of arrivals; every nonce is random")
    tests: Tests = Field(description="the tests")
    order: Literal["listed", "interleaved"] = Field(
        "interleaved",
        description="interleaved: round by round, each with one repeat of all that is left, shuffled by seed; "
        "listed: one after the other",
    )
    tolerated: float = Field(0, ge=0, lt=1, description="share of the requests of a repeat that may fail")
    calibrate: bool = Field(True, description="true or false: measure the client itself against a server that is timed")
    request_timeout_s: float = Field(gt=0, description="seconds one request may take before it counts as failed")
    ready_timeout_s: float = Field(gt=0, description="seconds to wait for the server before the first test")

    @property
    def hash(self) -> str:
        """Twelve hexadecimal digits over the plan's content; independent of key order and spelling of numbers."""
        canonical = json.dumps(self.model_dump(mode="json"), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(canonical.encode()).hexdigest()[:12]

    @property
    def longest_s(self) -> float:
        """Seconds after which the plan is over even if every request takes all its time; none is measured twice."""
        cells = (cell for test in self.tests for cell in test.cells)
        return self.ready_timeout_s + sum(cell.longest_s(self.request_timeout_s) for cell in cells)

    @property
    def repeats(self) -> tuple[tuple[Test, Cell, int], ...]:
        """Every repeat of every cell in the order of measuring, counted from 1."""
        listed = [(test, cell, number) for test in self.tests for cell in test.cells for number in _numbers(cell)]
        if self.order == "listed":
            return tuple(listed)
        dice = random.Random(f"{self.seed}/order")  # noqa: S311  reproducible on purpose; no secret
        rounds: dict[int, list[tuple[Test, Cell, int]]] = {}
        for entry in listed:
            rounds.setdefault(entry[2], []).append(entry)
        for one in rounds.values():
            dice.shuffle(one)
        return tuple(chain.from_iterable(rounds[number] for number in sorted(rounds)))

    def to_json(self) -> str:
        """Return the text that `Plan.model_validate_json` reads back."""
        return self.model_dump_json(indent=2) + "\n"


def _numbers(cell: Cell) -> range:
    return range(1, cell.repeats + 1)
