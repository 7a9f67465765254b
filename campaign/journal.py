"""What a campaign has done, line by line, so that any other command can go on with it.

A line is on the disk before the next thing is done. The last one may be torn by a crash: then it was not yet promised,
and it is cut off.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AwareDatetime, Field, TypeAdapter, ValidationError

from campaign.campaign import Campaign, End
from experiment.errors import SplitbedError
from experiment.measure.part import Amount, Part
from report.statistics.stopping import Ending


class Begun(Part):
    """The first line."""

    event: Literal["begun"] = "begun"
    campaign: Campaign


class Started(Part):
    """A turn is about to be set and measured, for the first time or once more."""

    event: Literal["started"] = "started"
    turn: int
    run: str
    attempt: int
    at: AwareDatetime


class Measured(Part):
    """Its records are here; `seconds` is what it took, if nothing came between and the stack was up before."""

    event: Literal["measured"] = "measured"
    turn: int
    run: str
    attempt: int
    seconds: Amount | None
    places: tuple[str, ...]
    at: AwareDatetime


class Looked(Part):
    """What a planned look said; `smallest` change that all judged comparisons could have shown."""

    event: Literal["looked"] = "looked"
    runs: int
    ending: Ending
    smallest: Amount | None
    at: AwareDatetime


class Stopped(Part):
    """No turn is to follow."""

    event: Literal["stopped"] = "stopped"
    why: str
    at: AwareDatetime


class Ended(Part):
    """The stack was left as asked."""

    event: Literal["ended"] = "ended"
    how: End
    at: AwareDatetime


Entry = Annotated[Begun | Started | Measured | Looked | Stopped | Ended, Field(discriminator="event")]
_ENTRY: TypeAdapter[Entry] = TypeAdapter(Entry)


class JournalError(SplitbedError):
    """A journal that no campaign has written."""


class Journal:
    """The file, and what stands in it."""

    def __init__(self, path: Path, entries: Sequence[Entry] = ()) -> None:
        """Take what `opened` has read."""
        self._path = path
        self._entries = list(entries)

    @classmethod
    def opened(cls, path: Path) -> "Journal":
        """Read a journal, or begin one; what a crash has torn off its last line is cut away.

        Raises:
            JournalError: it holds something else.
            OSError: it cannot be read or written.
        """
        if not path.exists():
            return cls(path)
        content = path.read_bytes()
        whole = content[: content.rfind(b"\n") + 1]
        entries = [_parsed(path, number, line) for number, line in enumerate(whole.split(b"\n")[:-1], start=1)]
        if entries and not isinstance(entries[0], Begun):
            raise JournalError(f"{path} does not say what campaign it is of.", "Name another directory.")
        if whole != content:
            with path.open("r+b") as file:
                file.truncate(len(whole))
                os.fsync(file.fileno())
        return cls(path, entries)

    def add(self, entry: Entry) -> None:
        """Write an entry; it is on the disk when this returns."""
        new = not self._path.exists()
        with self._path.open("ab") as file:
            file.write(entry.model_dump_json().encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
        if new:
            _sync_directory(self._path.parent)
        self._entries.append(entry)

    @property
    def campaign(self) -> Campaign | None:
        """The campaign it is of; None if it is new."""
        return next((entry.campaign for entry in self._entries if isinstance(entry, Begun)), None)

    @property
    def measured(self) -> dict[int, Measured]:
        """The turns whose records are here."""
        return {entry.turn: entry for entry in self._entries if isinstance(entry, Measured)}

    @property
    def looks(self) -> dict[int, Looked]:
        """What looks have said, by the number of runs of each topology."""
        return {entry.runs: entry for entry in self._entries if isinstance(entry, Looked)}

    @property
    def stopped(self) -> Stopped | None:
        """Why no turn is to follow, if none is."""
        return next((entry for entry in self._entries if isinstance(entry, Stopped)), None)

    @property
    def ended(self) -> Ended | None:
        """How the stack was left, if all is done."""
        return next((entry for entry in self._entries if isinstance(entry, Ended)), None)

    def attempt(self, turn: int) -> int | None:
        """Return the latest attempt at a turn; None if it was never started."""
        return max(
            (one.attempt for one in self._entries if isinstance(one, Started) and one.turn == turn), default=None
        )


def _parsed(path: Path, number: int, line: bytes) -> Entry:
    try:
        return _ENTRY.validate_json(line)
    except ValidationError:
        raise JournalError(
            f"{path}, line {number}: this is no entry of a campaign's journal.", "Name another directory."
        ) from None


def _sync_directory(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
