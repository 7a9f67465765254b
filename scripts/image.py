"""`splitbed image`: the stand-in engine's image, for a cluster of one's own."""

import errno
import shutil
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from experiment.errors import SplitbedError
from rehearsal.home import home
from rehearsal.images import standin_image
from rehearsal.progress import ConsoleProgress


def image(
    file: Annotated[Path, typer.Argument(help="Where to write it, for `kind load image-archive`.")],
) -> None:
    """Build the stand-in engine's image and write it to a file; its reference goes to standard output."""
    built = standin_image(home(), ConsoleProgress(Console(stderr=True)))
    try:
        shutil.copyfile(built.archive, file)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            file.unlink(missing_ok=True)  # the part that fitted is no image
        raise SplitbedError(
            f"The image cannot be written to {file}: {error.strerror or error}.",
            f"Name a file in a directory that exists, with {built.archive.stat().st_size // 1024**2 + 1} MiB free.",
        ) from None
    typer.echo(built.reference)
