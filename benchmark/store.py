"""The directory of one run and plan: every finished repeat is a file that is there whole or not at all."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from pydantic import ValidationError

from experiment.errors import SplitbedError
from experiment.record import RepeatRecord, SessionRecord, parse_record

KEPT_ASIDE = ("failed", "partial", "disturbed", "sessions")


class StoreError(SplitbedError):
    """A record cannot be kept."""


class Store:
    """Files of `<results>/<run>/<plan-hash>/`: `<cell>-<k>.json` is a finished repeat, and nothing else is.

    Apart from them lie `<aside>/<cell>-<k>-<i>.json` (failed, partial, disturbed), `sessions/session-<i>.json` and
    `unreadable/`.
    """

    def __init__(self, results: Path, run: str, plan_hash: str) -> None:
        self._results = results
        self.directory = results / run / plan_hash
        self.lock_path = results / run / "lock"

    def prepare(self) -> None:
        """Make the directories, durably.

        Raises:
            StoreError: it cannot be made.
        """
        with _explained(self.directory):
            for path in (*reversed(self.directory.parents), self.directory, *self._asides()):
                if not path.exists():
                    path.mkdir(exist_ok=True)
                    _sync_directory(path.parent)

    def tidy(self) -> None:
        """Remove what a killed writer left half written; only the holder of the run's lock may call it."""
        with _explained(self.directory):
            for path in self.directory.rglob(".*.part"):
                path.unlink()

    def finished(self, cell: str, repeat: int) -> RepeatRecord | None:
        """Return the record of a finished repeat.

        A file that is no record any more (damaged from outside) is put aside under another name, so that the
        repeat is measured again and nothing is lost.

        Raises:
            StoreError: the file cannot be read.
        """
        path = self._path(cell, repeat)
        with _explained(path):
            if not path.exists():
                return None
            try:
                record = parse_record(path.read_bytes())
            except ValidationError:
                record = None
            if isinstance(record, RepeatRecord) and record.result == "finished":
                return record
            path.rename(self._free("unreadable", path.stem))
            return None

    def keep(self, record: RepeatRecord | SessionRecord, *, disturbed: bool = False) -> Path:
        """Write a record durably and return its path; a `disturbed` one is put aside, to be measured once more.

        Raises:
            StoreError: it could not be written; nothing half written remains under its name.
        """
        if isinstance(record, SessionRecord):
            path = self._free("sessions", "session")
        elif disturbed or record.result != "finished":
            aside = "disturbed" if disturbed else record.result
            path = self._free(aside, f"{record.cell}-{record.repeat}")
        else:
            path = self._path(record.cell, record.repeat)
        with _explained(path):
            _write(path, record.to_json().encode())
        return path

    def records(self) -> Iterator[tuple[PurePosixPath, RepeatRecord | SessionRecord]]:
        """Yield every record that is kept, of earlier sessions too, and its path below the results directory.

        What is no record is left out: it is not a finished repeat either.

        Raises:
            StoreError: a file cannot be read.
        """
        for pattern in ("*.json", *(f"{aside}/*.json" for aside in KEPT_ASIDE)):
            for path in sorted(self.directory.glob(pattern)):
                with _explained(path):
                    content = path.read_bytes()
                try:
                    yield PurePosixPath(path.relative_to(self._results)), parse_record(content)
                except ValidationError:
                    continue

    def _path(self, cell: str, repeat: int) -> Path:
        return self.directory / f"{cell}-{repeat}.json"

    def _asides(self) -> Iterator[Path]:
        return (self.directory / name for name in (*KEPT_ASIDE, "unreadable"))

    def _free(self, aside: str, stem: str) -> Path:
        number = 1
        while (path := self.directory / aside / f"{stem}-{number}.json").exists():
            number += 1
        return path


def _write(path: Path, content: bytes) -> None:
    part = path.with_name(f".{path.name}.part")
    try:
        with part.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except OSError:
        part.unlink(missing_ok=True)
        raise
    _sync_directory(path.parent)


def _sync_directory(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            remedy = "Free some space there, then resume: what was finished before is safe."
        else:
            remedy = "Give a directory on a local disk that this user can write to."
        raise StoreError(f"{path}: {error.strerror or error}.", remedy) from error
