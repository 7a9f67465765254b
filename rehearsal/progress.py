"""Telling a person what goes on, on a terminal or in a log."""

import time
from collections.abc import Callable
from typing import Protocol

from rich.console import Console
from rich.markup import escape


class Progress(Protocol):
    """What long work reports to."""

    def step(self, text: str) -> None:
        """A new phase begins; `text` says which, and what it may take."""

    def note(self, text: str) -> None:
        """A remark within the phase."""


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
        self._console.print(f"[dim]{self._elapsed()}[/]  [bold]{escape(text)}[/]", highlight=False, soft_wrap=True)

    def note(self, text: str) -> None:
        """Print a remark, indented."""
        self._console.print(f"[dim]{self._elapsed()}    {escape(text)}[/]", highlight=False, soft_wrap=True)
