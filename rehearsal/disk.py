"""Room on the disk, looked for before long work starts."""

import shutil
from collections.abc import Mapping
from pathlib import Path

from experiment.errors import SplitbedError

MIB = 1024 * 1024
_RESERVE_MIB = 512  # left to everybody else on the machine


class DiskError(SplitbedError):
    """There is less room than the work ahead needs."""


def existing(path: Path) -> Path:
    """Return `path` or its nearest ancestor that exists."""
    while not path.exists():
        path = path.parent
    return path


def free_mib(path: Path) -> int:
    """Return the MiB that are free for us on the file system that holds, or will hold, `path`."""
    return shutil.disk_usage(existing(path)).free // MIB


def require_space(work: str, needs: Mapping[Path, int]) -> None:
    """Check that the file systems of the paths in `needs` have the MiB named there, added up for each.

    Raises:
        DiskError: one of them is short; it says which, how much is free and how much is needed.
    """
    needed: dict[int, int] = {}
    places: dict[int, Path] = {}
    for path, mib in needs.items():
        device = existing(path).stat().st_dev
        needed[device] = needed.get(device, 0) + mib
        places.setdefault(device, path)
    for device, mib in needed.items():
        free = free_mib(places[device])
        if free < mib + _RESERVE_MIB:
            raise DiskError(
                f"{work} needs about {gib(mib + _RESERVE_MIB)} on the file system of {places[device]}, "
                f"and only {gib(free)} are free.",
                "Free some space there, or set SPLITBED_HOME (and, for Go's caches, GOCACHE and GOMODCACHE) "
                "to directories on a larger disk.",
            )


def gib(mib: int) -> str:
    """Write an amount of MiB for a person."""
    return f"{mib / 1024:.1f} GiB"
