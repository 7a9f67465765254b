"""One benchmark at a time for a run id."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmark.lease import Lease
from experiment.errors import SplitbedError


class RunLockedError(SplitbedError):
    """The run cannot be had for this process alone."""


@contextmanager
def run_lock(path: Path, holder: str) -> Iterator[None]:
    """Hold the lock file at `path`; `holder` is written into it, to be named to whoever comes second.

    It is an flock: the kernel lets go of it when the process ends, however it ends, so a killed run leaves no
    lock. The file itself stays, since removing it would let two processes lock two files of one name. A lease beside it
    holds off other machines.

    Raises:
        RunLockedError: somebody else holds it, or the file cannot be opened.
        RunLeasedError: another machine measures this run.
    """
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise RunLockedError(
            f"{path}: the lock of this run cannot be taken: {error.strerror}.",
            "Give a results directory that this user can write to.",
        ) from None
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            other = os.read(descriptor, 500).decode("utf-8", "replace").strip() or "an unnamed process"
            raise RunLockedError(
                f"{path}: this run is being measured already, by {other}.",
                "Wait for its end, or give another run id.",
            ) from None
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, holder.encode(), 0)
        # Its name is one that is not carried anywhere: it means something to this directory alone.
        with Lease(path.with_name("lease.part"), holder).held():
            yield
    finally:
        os.close(descriptor)
