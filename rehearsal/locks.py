"""Locks between processes, which end with whoever holds them."""

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_POLL_SECONDS = 0.2


@contextmanager
def locked(path: Path, waiting: Callable[[str], None]) -> Iterator[None]:
    """Hold the lock file `path` for the length of the block.

    The kernel drops the lock when its holder ends, however it ends; the file goes with the block, and one
    that a killed holder left behind is taken over. `waiting` is told once, with the holder's process id,
    that somebody else holds it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = _acquire(path, waiting)
    try:
        yield
    finally:
        path.unlink(missing_ok=True)  # before the lock is dropped: the next one opens a new file
        os.close(descriptor)


def held(path: Path) -> bool:
    """Return whether some process holds the lock file `path` right now."""
    try:
        descriptor = os.open(path, os.O_RDWR)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def _acquire(path: Path, waiting: Callable[[str], None]) -> int:
    told = False
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(descriptor, 32, 0).decode(errors="replace").strip() or "unknown"
            os.close(descriptor)
            if not told:
                waiting(f"waiting for process {holder}, which holds {path}")
                told = True
            time.sleep(_POLL_SECONDS)
            continue
        except BaseException:
            os.close(descriptor)
            raise
        if _is_still(path, descriptor):
            with suppress(OSError):  # on a full disk it is held all the same, and nobody is told by whom
                os.ftruncate(descriptor, 0)
                os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
            return descriptor
        os.close(descriptor)  # its holder unlinked it between our open and our lock


def _is_still(path: Path, descriptor: int) -> bool:
    try:
        there = path.stat()
    except FileNotFoundError:
        return False
    ours = os.fstat(descriptor)
    return (there.st_dev, there.st_ino) == (ours.st_dev, ours.st_ino)
