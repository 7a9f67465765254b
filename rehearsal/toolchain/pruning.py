"""Builds that newer ones have taken the place of: a quarter of a gigabyte for each change of pins or of Go."""

import re
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from rehearsal.disk import MIB, gib
from rehearsal.toolchain.builds import Build

_KEPT = 2  # of each program: two checkouts with different pins may take turns


def prune(build: Build, note: Callable[[str], None]) -> None:
    """Remove older builds of the program, the least lately used first, but for the newest and those that run.

    To be called under the lock under which builds are published; a use is told by the directory's time.
    """
    pattern = re.compile(rf"{re.escape(build.program.name)}-\d+\.\d+\.\d+-[0-9a-f]{{12}}")
    builds = [path for path in build.root.iterdir() if pattern.fullmatch(path.name)]
    outdated = sorted(builds, key=lambda path: path.stat().st_mtime, reverse=True)[_KEPT:]
    running = _running_from(build.root) if outdated else frozenset()
    gone = [path for path in outdated if path not in running and path != build.directory]
    if not gone:
        return
    mib = sum(file.stat().st_size for path in gone for file in path.rglob("*") if file.is_file()) // MIB
    for path in gone:
        shutil.rmtree(path, ignore_errors=True)
    note(f"removed {', '.join(sorted(path.name for path in gone))}, which nothing uses any more ({gib(mib)})")


def _running_from(root: Path) -> frozenset[Path]:
    """Return the directories below `root` that a process of this machine runs a program of."""
    resolved = root.resolve()
    found = set()
    for link in Path("/proc").glob("[0-9]*/exe"):
        with suppress(OSError, ValueError):  # it has ended, or is of a kind that shows no file
            found.add(root / link.readlink().relative_to(resolved).parts[0])
    return frozenset(found)
