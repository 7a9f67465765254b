"""The `splitbed` command."""

import errno
import sys
from importlib import metadata
from typing import Annotated, Any

import typer

from experiment.errors import SplitbedError
from scripts.errors import explain
from scripts.verbs import Verbs


class _ExplainingTyper(typer.Typer):
    """Prints what a person can mend as a sentence, without a traceback."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        try:
            return super().__call__(*args, **kwargs)
        except SplitbedError as error:
            explain(error)
            sys.exit(2)
        except OSError as error:
            explain(_of_the_system(error))
            sys.exit(2)


def _of_the_system(error: OSError) -> SplitbedError:
    """Say what the operating system refused: a disk that is full, a directory that may not be written to."""
    where = f"{error.filename}: " if error.filename is not None else ""
    if error.errno in (errno.ENOSPC, errno.EDQUOT) and error.filename is None and _output_is_full():
        return SplitbedError(f"The output cannot be written: {error.strerror}.", "Write it where there is room for it.")
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        remedy = "Free some space there, or set SPLITBED_HOME to a directory on a larger disk."
    elif isinstance(error, FileNotFoundError | NotADirectoryError | IsADirectoryError):
        remedy = "Name a file in a directory that is there."
    else:
        remedy = "Check it, or set SPLITBED_HOME to a directory that this user can write to."
    return SplitbedError(f"{where}{error.strerror or error}.", remedy)


def _output_is_full() -> bool:
    """Tell whether the standard output takes no more; the error of a failed write does not say whose it was."""
    if sys.stdout.isatty():
        return False
    try:
        sys.stdout.write("\n")
        sys.stdout.flush()
    except OSError:
        return True
    return False


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"splitbed {metadata.version('splitbed')}")
        raise typer.Exit


app = _ExplainingTyper(cls=Verbs, no_args_is_help=True, pretty_exceptions_enable=False, add_completion=False)


@app.callback()
def _splitbed(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """Should this model be split over two machines? Plan, provision, measure, take down, judge."""
