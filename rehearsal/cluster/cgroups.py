"""A cluster's control groups, in either version of the kernel's interface."""

import contextlib
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from experiment.errors import SplitbedError

NEEDED = frozenset({"cpu", "memory", "pids"})
WANTED = ("cpuset", "cpu", "io", "memory", "hugetlb", "pids")
"""Controllers the kubelet wants on a node's cgroup wherever the machine has them."""
_REMOVAL_TIMEOUT = 60.0


@dataclass(frozen=True)
class Hierarchy:
    """One mounted tree of control groups."""

    path: Path
    unified: bool
    controllers: frozenset[str] = frozenset()


def hierarchies(mounts: Path = Path("/proc/self/mounts")) -> tuple[Hierarchy, ...]:
    """Return every mounted cgroup tree; under version 1 there is one per controller or set of controllers."""
    found: dict[Path, Hierarchy] = {}
    for line in mounts.read_text().splitlines():
        _, where, kind, options = line.split()[:4]
        path = Path(where.replace("\\040", " "))
        if kind == "cgroup2":
            listed = path / "cgroup.controllers"
            controllers = listed.read_text().split() if listed.exists() else []
            found[path] = Hierarchy(path, unified=True, controllers=frozenset(controllers))
        elif kind == "cgroup":
            found[path] = Hierarchy(path, unified=False, controllers=frozenset(options.split(",")))
    return tuple(found.values())


class Cgroups:
    """The cgroups of one cluster: `<name>` in every tree, with one below it per node.

    Under version 1 (also the hybrid form, where the unified tree has no controllers) every controller has a tree;
    under version 2 controllers must be enabled from the root down to the node's cgroup.
    """

    def __init__(self, name: str, trees: tuple[Hierarchy, ...] | None = None) -> None:
        self._name = name
        self._trees = hierarchies() if trees is None else trees
        legacy = tuple(tree for tree in self._trees if not tree.unified)
        self._used = legacy or self._trees

    def check(self) -> None:
        """Raise `SplitbedError` if a controller that the kubelet cannot do without is missing."""
        available = frozenset[str]().union(*(tree.controllers for tree in self._used))
        if missing := sorted(NEEDED - available):
            raise SplitbedError(f"This machine lacks the cgroup controllers {', '.join(missing)}.")

    def make(self, nodes: tuple[str, ...]) -> list[str]:
        """Make the cgroups; return the controllers that had to be enabled at the root (version 2 only)."""
        enabled: list[str] = []
        for tree in self._used:
            top = tree.path / self._name
            if tree.unified:
                enabled += _enable(tree.path)
            for path in (top, *(top / node for node in nodes)):
                path.mkdir()
                if tree.unified:
                    _enable(path)
                elif "cpuset" in tree.controllers:
                    for file in ("cpuset.cpus", "cpuset.mems"):
                        (path / file).write_text((path.parent / file).read_text())
        return enabled

    def exist(self) -> bool:
        """Tell whether any of them is there."""
        return any((tree.path / self._name).is_dir() for tree in self._trees)

    def remove(self, enabled: list[str]) -> None:
        """Remove all cgroups of the cluster, whose processes are dead, and undo what `make` enabled.

        Raises `SplitbedError` if one stays busy for a minute.
        """
        deadline = time.monotonic() + _REMOVAL_TIMEOUT
        for tree in self._trees:
            top = tree.path / self._name
            while top.is_dir():
                try:
                    for path in _depth_first(top):
                        path.rmdir()
                except FileNotFoundError:
                    continue  # the kernel or a late daemon was faster: look again
                except OSError as error:
                    if time.monotonic() > deadline:
                        raise SplitbedError(
                            f"The cgroup {error.filename} cannot be removed: {error.strerror}.",
                            "See which processes its cgroup.procs names, end them, and take the cluster down again.",
                        ) from None
                    time.sleep(0.05)
            if tree.unified and tree in self._used and not any(tree.path.glob("splitbed-*")):
                for controller in enabled:
                    with contextlib.suppress(OSError):  # somebody else uses it by now
                        (tree.path / "cgroup.subtree_control").write_text(f"-{controller}")


def _enable(path: Path) -> list[str]:
    """Enable for the children of `path` what it has of `WANTED`; return what was not enabled before."""
    available = (path / "cgroup.controllers").read_text().split()
    control = path / "cgroup.subtree_control"
    before = control.read_text().split()
    enabled = []
    for controller in WANTED:
        if controller in available and controller not in before:
            try:
                control.write_text(f"+{controller}")
            except OSError as error:
                if controller in NEEDED:
                    raise SplitbedError(
                        f"The cgroup controller {controller} cannot be enabled in {path}: {error.strerror}.",
                        "In a container, start it with its own init process moved to a child cgroup, or use kind.",
                    ) from None
            else:
                enabled.append(controller)
    return enabled


def _depth_first(top: Path) -> Iterator[Path]:
    for entry in top.iterdir():
        if entry.is_dir():
            yield from _depth_first(entry)
    yield top
