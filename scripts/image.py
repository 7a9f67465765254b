"""`splitbed image`: the stand-in engine's image, for a cluster of one's own."""

import shutil
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from rehearsal.home import home
from rehearsal.images import standin_image
from rehearsal.progress import ConsoleProgress


def image(
    file: Annotated[Path, typer.Argument(help="Where to write it, for `kind load image-archive`.")],
) -> None:
    """Build the stand-in engine's image and write it to a file; its reference goes to standard output."""
    built = standin_image(home(), ConsoleProgress(Console(stderr=True)))
    shutil.copyfile(built.archive, file)
    typer.echo(built.reference)
