"""How records of a benchmark reach the workspace: the Job writes them there itself, or they are taken from its log."""

import re
import time
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import Protocol

from experiment.handout import PREFIX, HandoutError, parse_record_line
from experiment.record import RepeatRecord, SessionRecord
from rehearsal.observer import ClusterRefusedError, ClusterUnreachableError
from report.keeping import keep

_TRIES, _BETWEEN_TRIES_S = 15, 2.0
_FINISHED = re.compile(r"^\S+ \d+/\d+: (?!FAILED)[^\n]* -> (?P<name>[a-z0-9-]+)\.json$", re.MULTILINE)


class Records(Protocol):
    """The records of one Job, wherever it puts them."""

    poll_s: float
    """Seconds between two looks while the Job runs."""

    def finished(self) -> list[str]:
        """Return the names of the finished repeats so far, in the order in which they ended."""

    def collect(self) -> bool:
        """Bring what the ended Job has measured into the workspace; False if no finished record is there then."""


class LocalRecords:
    """The Job writes into a directory of this machine; its records are copied if they are to be elsewhere."""

    poll_s = 0.5

    def __init__(self, directory: Path, into: Path | None = None) -> None:
        """Look into the directory of a run; copy to another one, if there is another."""
        self._directory = directory
        self._into = into or directory

    def finished(self) -> list[str]:
        """See `Records`."""
        paths = sorted(self._directory.glob("*/*.json"), key=lambda path: path.stat().st_mtime)
        return [path.stem for path in paths]

    def collect(self) -> bool:
        """See `Records`; what was copied before stays as it is.

        Raises:
            KeepingError: a record cannot be written.
        """
        if self._into == self._directory:
            return True
        for path in sorted(self._directory.rglob("*.json")):
            keep(self._into / path.relative_to(self._directory), path.read_bytes())
        return any(self._into.glob("*/*.json"))


class ClaimedRecords:
    """The Job writes to a volume that only its pod reads, and prints its records when it ends."""

    poll_s = 2.0

    def __init__(
        self,
        read_log: Callable[[], str | None],
        results: Path,
        run: str,
        note: Callable[[str], None],
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Read the log of the Job's newest pod by `read_log`, which returns none if that pod is gone."""
        self._read_log = read_log
        self._results = results
        self._run = run
        self._note = note
        self._sleep = sleep
        self._finished: list[str] = []

    def finished(self) -> list[str]:
        """See `Records`; while the log cannot be read, what was known before."""
        try:
            log = self._read_log()
        except (ClusterRefusedError, ClusterUnreachableError):  # its container is not there yet, or its node is not
            log = None
        if log is not None:
            self._finished = [line["name"] for line in _FINISHED.finditer(log)]
        return self._finished

    def collect(self) -> bool:
        """See `Records`; a line that is no record is named in a note and skipped.

        Raises:
            KeepingError: a record cannot be written.
        """
        for line in (self._whole_log() or "").split("\n"):
            if not line.startswith(PREFIX):
                continue
            try:
                path, record = parse_record_line(line)
            except HandoutError as error:
                self._note(f"a record in the benchmark's log is skipped: {error}")
                continue
            self._keep(path, record)
        return any((self._results / self._run).glob("*/*.json"))

    def _whole_log(self) -> str | None:
        reason = ""
        for attempt in range(_TRIES):
            if attempt:
                self._sleep(_BETWEEN_TRIES_S)
            try:
                log = self._read_log()
            except ClusterUnreachableError as error:
                reason = error.message
            except ClusterRefusedError as error:
                reason = error.message
                break
            else:
                if log is None:
                    self._note("the benchmark's pod is gone, and its log with it")
                return log
        self._note(f"the benchmark's log cannot be read: {reason}")
        return None

    def _keep(self, path: PurePosixPath, record: RepeatRecord | SessionRecord) -> None:
        if keep(self._results / path, record.to_json().encode()) == "different":
            # Of an earlier claim: what was finished first counts, as it does for the client.
            self._note(f"{path} is here already and stays; the benchmark's log has another")
