"""Files of records where reports read them: each whole or not at all, and none in another's place."""

import os
from pathlib import Path
from typing import Literal

from experiment.errors import SplitbedError

Kept = Literal["new", "same", "different"]


class KeepingError(SplitbedError):
    """A record cannot be written, or what is there cannot be read."""


def compared(target: Path, content: bytes) -> Kept:
    """Return what a record is to what lies in its place: nothing, the same, or something else.

    Raises:
        KeepingError: what is there cannot be read.
    """
    try:
        if not target.exists():
            return "new"
        return "same" if target.read_bytes() == content else "different"
    except OSError as error:
        raise _explained(target, error) from error


def keep(target: Path, content: bytes) -> Kept:
    """Write a record unless something is there already, which stays as it is; raises as `compared`."""
    kept = compared(target, content)
    if kept == "new":
        try:
            _write(target, content)
        except OSError as error:
            raise _explained(target, error) from error
    return kept


def _write(target: Path, content: bytes) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(f".{target.name}.part")
    with part.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    part.replace(target)


def _explained(target: Path, error: OSError) -> KeepingError:
    return KeepingError(
        f"{error.filename or target}: {error.strerror or error}.",
        "Free some space or mend its rights, then run again.",
    )
