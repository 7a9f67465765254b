"""A directory of a volume that is filled once, by whoever comes first; the others wait, and find it full."""

import contextlib
import errno
import fcntl
import json
import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from components.pod.weights.download import PART, bring
from components.pod.weights.files import File, needed
from components.pod.weights.refusal import RefusedError

MARK = ".splitbed.json"
"""Is there when all is there; names the files and their sizes."""

SAY_EVERY_S = 10.0
_POLL_S = 0.5
_AT_ONCE = 4
_SPARE_BYTES = 1 << 30
_GIB = 2**30


def fill(place: Path, listed: Callable[[], Sequence[File]]) -> None:
    """Fill a directory with the files of a model, unless they are there.

    Two pods of one node may do so at once. A pod that is killed leaves what it has, for the next to go on with.

    Args:
        place: the directory; its name says what it holds, the revision included.
        listed: asks the source for its files; not called when all is there.

    Raises:
        RefusedError: it cannot be filled.
    """
    try:
        place.mkdir(parents=True, exist_ok=True)
        with _alone(place):
            if there := complete(place):
                print(f"weights are there: {len(there)} files, {_gib(sum(there.values()))}; nothing is fetched")
                return
            files = needed(listed())
            _has_room(place, files)
            _bring(files, place)
            _mark(place, files)
    except OSError as error:
        raise RefusedError(_unwritable(place, error)) from None


def complete(place: Path) -> dict[str, int]:
    """Return the files of a full directory and their sizes; nothing if one of them is not as it was."""
    try:
        files: dict[str, int] = json.loads((place / MARK).read_text())["files"]
        if all((place / path).stat().st_size == size for path, size in files.items()):
            return files
    except (OSError, ValueError, KeyError):
        pass
    return {}


@contextlib.contextmanager
def _alone(place: Path) -> Iterator[None]:
    """Hold the lock of a directory; the kernel opens it when its holder is gone, however it went."""
    with place.with_name(place.name + ".lock").open("a") as lock:
        said_s = time.monotonic()
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() - said_s >= SAY_EVERY_S:
                    said_s = time.monotonic()
                    print("waiting for another pod of this node, which fetches the same weights", flush=True)
                time.sleep(_POLL_S)
        yield


def _has_room(place: Path, files: Sequence[File]) -> None:
    whole = sum(file.size for file in files)
    there = sum(path.stat().st_size for path in place.rglob("*") if path.is_file() and path.name != MARK)
    free = shutil.disk_usage(place).free
    if whole - there + _SPARE_BYTES > free:
        raise RefusedError(
            f"The weights cannot be fetched, because they take {_gib(whole)}, of which {_gib(whole - there)} are still "
            f"to come, and this node's disk has {_gib(free)} left: give the nodes a larger one (nodes.engine.disk_gib)"
        )


def _bring(files: Sequence[File], place: Path) -> None:
    progress = _Progress(sum(file.size for file in files))
    print(f"fetching {len(files)} files, {_gib(progress.whole)}", flush=True)
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        # The largest first: at the end they would be waited for alone.
        brought = [pool.submit(bring, file, place, progress.came) for file in sorted(files, key=lambda one: -one.size)]
        try:
            for one in brought:
                one.result()
        except BaseException:
            progress.stopped = True
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    print(f"fetched and checked in {progress.seconds:.0f} s", flush=True)


def _mark(place: Path, files: Sequence[File]) -> None:
    part = place / (MARK + PART)
    with part.open("w") as out:
        json.dump({"files": {file.path: file.size for file in files}}, out)
        out.flush()
        os.fsync(out.fileno())
    part.rename(place / MARK)


class _StoppedError(Exception):
    """Another file is not to be had, so this one is of no use."""


class _Progress:
    """Says now and then how much is there; called by several threads.

    Attributes:
        whole: bytes in all.
        stopped: whether whoever reports more is to stop.
    """

    def __init__(self, whole: int) -> None:
        self.whole, self._there, self.stopped = whole, 0, False
        self._lock = threading.Lock()
        self._begin_s = self._said_s = time.monotonic()

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._begin_s

    def came(self, count: int) -> None:
        if self.stopped:
            raise _StoppedError
        with self._lock:
            self._there += count
            now_s = time.monotonic()
            if now_s - self._said_s >= SAY_EVERY_S:
                self._said_s = now_s
                print(f"{_gib(self._there)} of {_gib(self.whole)} are there after {self.seconds:.0f} s", flush=True)


def _gib(size: int) -> str:
    return f"{size / _GIB:.2f} GiB"


def _unwritable(place: Path, error: OSError) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return (
            f"The weights cannot be kept in {place}, because this node's disk is full: give the nodes a larger one "
            "(nodes.engine.disk_gib)"
        )
    user = os.getuid()
    return (
        f"The weights cannot be kept in {place}, because the volume does not take them ({error.strerror}): on every "
        f"engine node its directory is to belong to user {user}, as `install -d -o {user} -g {user} DIRECTORY` makes it"
    )
