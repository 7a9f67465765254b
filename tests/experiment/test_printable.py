"""What may reach a terminal."""

import io

import pytest
from rich.console import Console

from experiment.printable import printable
from rehearsal.progress import ConsoleProgress


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\n\tb\r\nc", "a\n\tb\nc"),
        ("\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m"),
        ("\x9b2J", "\\x9b2J"),
        ("over\rwritten", "over\\rwritten"),
        ("left\u202eright", "left\\u202eright"),
        ("half \ud800", "half \\ud800"),
        ("grüße, 日本 🎉", "grüße, 日本 🎉"),
    ],
)
def test_nothing_that_a_terminal_obeys_gets_through(text: str, shown: str) -> None:
    assert printable(text) == shown


def test_progress_prints_what_a_pod_said_as_it_is() -> None:
    printed = io.StringIO()
    progress = ConsoleProgress(Console(file=printed, width=40, force_terminal=False), clock=lambda: 0.0)
    progress.step("up [bold]x[/] \x1b[2J")
    progress.note("words [/]")
    assert printed.getvalue() == "   0.0 s  up [bold]x[/] \\x1b[2J\n   0.0 s    words [/]\n"
