"""Mounts, control groups, kernel settings, and the places where daemons leave files."""

from collections.abc import Callable, Iterator
from pathlib import Path

from rehearsal.cluster.cgroups import hierarchies
from rehearsal.cluster.layout import STATE_PATHS, clusters_home, is_cluster_cgroup, is_own_cgroup
from rehearsal.cluster.namespaces import KERNEL_SETTINGS
from rehearsal.home import home
from rehearsal.locks import held

_SETTINGS = (*KERNEL_SETTINGS, "/proc/sys/net/ipv4/ip_forward", "/proc/sys/net/netfilter/nf_conntrack_max")
_DIRECTORIES = (*STATE_PATHS, "/opt/cni", "/opt/containerd", "/etc/cni", "/etc/containerd", "/etc/kubernetes")
_DEPTH = 2  # further down a running daemon of somebody else changes things all the time
_TEMPORARY = ("containerd*", "ctd*", "runc*", "kube*", "etcd*", "splitbed-cluster*")


def mounts() -> Iterator[str]:
    """Yield the mounts of this namespace."""
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        left, _, right = line.partition(" - ")
        kind, source = right.split()[:2]
        root, where = left.split()[3:5]
        yield f"{where} ({kind} {source}, root {root})"


def kernel_settings() -> Iterator[str]:
    """Yield settings that are the whole machine's."""
    for path in map(Path, _SETTINGS):
        if path.exists():
            yield f"{path} = {path.read_text().strip()}"


def cgroups(may_be_ours: Callable[[int], bool]) -> Iterator[str]:
    """Yield the control groups, but those of clusters of other homes and those that hold other people's processes."""
    for tree in hierarchies():
        for top in tree.path.iterdir():
            if top.is_dir() and (is_own_cgroup(top.name) or not is_cluster_cgroup(top.name)):
                yield from _cgroups_below(top, may_be_ours)


def _cgroups_below(path: Path, may_be_ours: Callable[[int], bool]) -> Iterator[str]:
    try:
        pids = [int(pid) for pid in (path / "cgroup.procs").read_text().split()]
        below = [entry for entry in path.iterdir() if entry.is_dir()]
    except OSError:  # gone meanwhile, or of a kind that tells nothing
        return
    inner = [text for entry in below for text in _cgroups_below(entry, may_be_ours)]
    yield from inner
    if inner or any(may_be_ours(pid) for pid in pids) or not (pids or below):
        yield str(path)


def directories() -> Iterator[str]:
    """Yield what is in the directories that daemons write to, and what they leave in /tmp."""
    for path in map(Path, _DIRECTORIES):
        yield from _tree(path, _DEPTH)
    for place in (Path("/tmp"), Path("/var/tmp")):  # noqa: S108 - only looked at
        for pattern in _TEMPORARY:
            yield from map(str, place.glob(pattern))


def cache() -> Iterator[str]:
    """Yield the clusters of the cache, and the lock files that nobody holds: another command's lock is in use."""
    yield from _tree(clusters_home(), 1)
    for pattern in ("locks/*", "*.lock", "*/*.lock", "*/lock", "*/*/lock", "*/*/*/lock"):
        yield from (str(path) for path in home().glob(pattern) if not held(path))


def _tree(path: Path, depth: int) -> Iterator[str]:
    if not (path.is_symlink() or path.exists()):
        return
    yield str(path)
    if depth and path.is_dir() and not path.is_symlink():
        for entry in path.iterdir():
            yield from _tree(entry, depth - 1)
