"""Telling a person what goes on, on a terminal or in a log."""

import time
from collections.abc import Callable

from rich.console import Console
from rich.text import Text

from campaign.progress import Progress
from experiment.printable import printable

__all__ = ["ConsoleProgress", "Progress"]


class ConsoleProgress:
    """Lines on a console, each with the seconds since the start."""

    def __init__(self, console: Console, clock: Callable[[], float] = time.monotonic) -> None:
        self._console = console
        self._clock = clock
        self._start = clock()

    def _elapsed(self) -> str:
        return f"{self._clock() - self._start:6.1f} s"

    def step(self, text: str) -> None:
        """Print a phase."""
        self._print((f"{self._elapsed()}  ", "dim"), (text, "bold"))

    def note(self, text: str) -> None:
        """Print a remark, indented."""
        self._print((f"{self._elapsed()}    {text}", "dim"))

    def _print(self, *parts: tuple[str, str]) -> None:
        """Print styled parts as they are: some of it is what a server or a pod said."""
        line = Text.assemble(*((printable(text), style) for text, style in parts))
        self._console.print(line, highlight=False, soft_wrap=True)
