"""The campaign that `splitbed rehearse --campaign` ends with."""

import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from campaign import topologies
from campaign.beginning import Prepared, prepared, utc_now
from campaign.question import Question
from campaign.stacklives import StackLives
from rehearsal.progress import ConsoleProgress
from scripts import campaign as campaigns
from stackfiles.stackfile import StackFile

TOPOLOGIES = ("single", "split")
LOOKS = (2,)
"""A B B A: enough to see how a campaign goes; figures of the stand-in are judged at no number of runs."""


class Turns:
    """The campaign at the end of a rehearsal.

    Attributes:
        seconds: it took, in this command.
        found: what became of it; None before.
    """

    def __init__(self, stack: str, replaced: Mapping[str, Any], progress: ConsoleProgress) -> None:
        self._stack, self._replaced, self._progress = stack, replaced, progress
        self.seconds = 0.0
        self.found: Prepared | None = None

    def __call__(self, lives: StackLives, directory: Path) -> None:
        """Let the topologies take turns on the living stack; a campaign that was stopped is gone on with."""
        begun = time.monotonic()
        question = Question(
            stack=self._stack,
            file=StackFile.of(self._stack).replaced(self._replaced),
            topologies=topologies.parsed(TOPOLOGIES),
            seed=0,
            looks=LOOKS,
            difference=campaigns.DIFFERENCE / 100,
        )
        directory.mkdir(parents=True, exist_ok=True)
        # Who destroys the stack is the rehearsal.
        self.found = prepared(question, directory, utc_now(), end="rehearsed", overrides=lives.overrides())
        campaigns.carry_out(self.found, replace(lives, file=question.varied()), self._progress, lambda _: None)
        self.seconds = time.monotonic() - begun

    def as_json(self) -> dict[str, object] | None:
        """Return outline, what was done, and the verdict; None before."""
        return None if self.found is None else campaigns.as_json(self.found)

    def print_verdict(self) -> None:
        """Print what was found, for a person."""
        if self.found is not None:
            campaigns.print_verdict(self.found, json_output=False)
