"""Where a command prints what has a shape: wide enough for it, in characters that the output can carry."""

import io
import sys

from rich.console import Console


def wide_console(narrowest: int, piped: int) -> Console:
    """Return a console for standard output; a terminal that is narrower breaks its lines, and nothing is lost.

    Args:
        narrowest: columns that are taken at least.
        piped: columns where there is no terminal, and the most that are taken.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a locale without such letters gets a question mark
    console = Console()
    width = max(narrowest, min(console.width, piped)) if console.is_terminal else piped
    return Console(width=width)
