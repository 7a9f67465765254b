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


def require_space(work: str, needs: Mapping[Path, int], variables: Mapping[Path, str] | None = None) -> None:
    """Check that the file systems of the paths in `needs` have the MiB named there, added up for each.

    Args:
        work: what needs it, as the beginning of a sentence.
        needs: MiB by path.
        variables: the environment variables that move a path elsewhere; SPLITBED_HOME where none is named.

    Raises:
        DiskError: one of them is short; it says which, how much is free and how much is needed.
    """
    places: dict[int, list[Path]] = {}
    for path, mib in needs.items():
        if mib:
            places.setdefault(existing(path).stat().st_dev, []).append(path)
    for paths in places.values():
        wanted = sum(needs[path] for path in paths) + _RESERVE_MIB
        free = free_mib(paths[0])
        if free < wanted:
            # What takes most of it first: moving that helps most.
            paths.sort(key=lambda path: -needs[path])
            names = dict.fromkeys((variables or {}).get(path, "SPLITBED_HOME") for path in paths)
            raise DiskError(
                f"{work} needs about {gib(wanted)} on the file system of {paths[0]}, and only {gib(free)} are free.",
                f"Free some space there, or set {' and '.join(names)} to a directory on a larger disk.",
            )


def gib(mib: int) -> str:
    """Write an amount of MiB for a person."""
    return f"{mib / 1024:.1f} GiB"
