"""What goes wrong at times between a collector and CloudWatch."""

import random
from dataclasses import dataclass
from typing import Literal

Fault = Literal["throttled", "unavailable", "unanswered", "warned"]
"""Refused with 429 or 503, each to be repeated later; taken, and the answer lost; taken, with a partialSuccess."""


@dataclass(frozen=True, kw_only=True)
class Faults:
    """How likely each is for a request, drawn by a seed; the rest is taken and answered.

    Attributes:
        retry_after_s: whole seconds, which refusals ask the client to wait.
    """

    seed: int = 0
    throttled: float = 0.0
    unavailable: float = 0.0
    unanswered: float = 0.0
    warned: float = 0.0
    retry_after_s: int = 1

    def draw(self, number: int) -> Fault | None:
        """Return what befalls the request of that number; the same seed always befalls it alike."""
        point = random.Random(f"{self.seed}/{number}").random()  # noqa: S311  a simulation
        chances: tuple[tuple[Fault, float], ...] = (
            ("throttled", self.throttled),
            ("unavailable", self.unavailable),
            ("unanswered", self.unanswered),
            ("warned", self.warned),
        )
        for fault, chance in chances:
            if point < chance:
                return fault
            point -= chance
        return None
