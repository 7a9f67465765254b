"""The `splitbed` command."""

import sys
from typing import Any

import typer
from rich.console import Console
from rich.text import Text

from experiment.errors import SplitbedError
from scripts import cluster, image, rehearse, tools

ERRORS = Console(stderr=True)


class _ExplainingTyper(typer.Typer):
    """Prints what a person can mend as a sentence, without a traceback."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        try:
            return super().__call__(*args, **kwargs)
        except SplitbedError as error:
            ERRORS.print(Text("error:", style="bold red"), Text(error.message), soft_wrap=True)
            if error.remedy:
                ERRORS.print(Text(error.remedy), soft_wrap=True)
            sys.exit(1)
        except KeyboardInterrupt:
            ERRORS.print("\nStopped. The same command goes on from here; finished records are kept.")
            sys.exit(130)


app = _ExplainingTyper(
    help="Should this model be split over two machines? Plan, provision, measure, take down, judge.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)
app.command("rehearse")(rehearse.rehearse)
app.command("image")(image.image)
app.add_typer(cluster.app, name="cluster")
app.add_typer(tools.app, name="tools")
