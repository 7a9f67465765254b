"""How a command tells a person what went wrong."""

from rich.console import Console
from rich.text import Text

from experiment.errors import SplitbedError
from experiment.printable import printable

ERRORS = Console(stderr=True)


def explain(error: SplitbedError) -> None:
    """Print what a person can mend as sentences, without a traceback."""
    ERRORS.print(Text("error:", style="bold red"), Text(printable(error.message)), soft_wrap=True)
    if error.remedy:
        ERRORS.print(Text(printable(error.remedy)), soft_wrap=True)
