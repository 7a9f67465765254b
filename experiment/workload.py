"""What the benchmark is to do: its plan, as the Job reads it.

Travels in the Job's zip and runs in the engine's image: standard library and pydantic only.
"""

import hashlib
import json
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, StringConstraints
from pydantic_core import PydanticCustomError

from experiment.strict import Strict

Slug = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", max_length=24)]
"""Lower-case letters, digits and inner hyphens: what may stand in a file name and in a Kubernetes name."""


class OneUser(Strict):
    """One user who streams one reply after another, each of a fixed length."""

    kind: Literal["one-user"] = Field(description='the kind of test, for example "one-user"')
    name: Slug = Field("one-user", description="a name that no other test of the plan has")
    prompt_tokens: int = Field(64, ge=1, description="length of every prompt in tokens, nonce included")
    output_tokens: int = Field(200, ge=2, description="length of every reply in tokens, fixed, at least 2")
    repeats: int = Field(8, ge=1, description="how many replies are measured, one after another")


Test = OneUser
"""Grows into a union told apart by `kind`."""


def _some_named_apart(tests: tuple[Test, ...]) -> tuple[Test, ...]:
    if not tests:
        raise PydanticCustomError("no_tests", "there is nothing to measure", {"remedy": "Name one test or more."})
    names = [test.name for test in tests]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise PydanticCustomError(
            "same_name",
            "two tests are both named {name}",
            {"name": ", ".join(twice), "remedy": "Give each test a name of its own: its records are filed under it."},
        )
    return tests


Tests = Annotated[tuple[Test, ...], AfterValidator(_some_named_apart)]


class Plan(Strict):
    """All that decides what the benchmark sends; two runs with equal hashes did the same work."""

    run: Slug = Field(description="run id: records are filed under it")
    model: str = Field(min_length=1, description="name under which the server serves the model")
    seed: int = Field(ge=0, description="seed of the prompts; each still begins with a random nonce")
    tests: Tests = Field(description="the tests, in the order in which they run")
    request_timeout_s: float = Field(gt=0, description="seconds one request may take before it counts as failed")
    ready_timeout_s: float = Field(gt=0, description="seconds to wait for the server before the first test")

    @property
    def hash(self) -> str:
        """Twelve hexadecimal digits over the plan's content; independent of key order and spelling of numbers."""
        canonical = json.dumps(self.model_dump(mode="json"), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(canonical.encode()).hexdigest()[:12]

    @property
    def longest_s(self) -> float:
        """Seconds after which the plan is over even if every request takes all its time."""
        return self.ready_timeout_s + self.request_timeout_s * sum(test.repeats for test in self.tests)

    def to_json(self) -> str:
        """Return the text that `Plan.model_validate_json` reads back."""
        return self.model_dump_json(indent=2) + "\n"
