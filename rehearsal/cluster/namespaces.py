"""Mounts and mount namespaces from inside a cluster: what keeps its daemons off the host's directories."""

import ctypes
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

MS_BIND, MS_REC, MS_PRIVATE, MS_SHARED = 0x1000, 0x4000, 1 << 18, 1 << 20
MNT_DETACH = 2
CLONE_NEWNS = 0x20000

_libc = ctypes.CDLL(None, use_errno=True)

# The kubelet sets these for the whole machine, and its change would outlive the cluster. It reads them first, and
# leaves alone what already is as it wants it: so it is shown files that say so.
KERNEL_SETTINGS = {
    "/proc/sys/vm/overcommit_memory": "1",
    "/proc/sys/vm/panic_on_oom": "0",
    "/proc/sys/kernel/panic": "10",
    "/proc/sys/kernel/panic_on_oops": "1",
    "/proc/sys/kernel/keys/root_maxkeys": "1000000",
    "/proc/sys/kernel/keys/root_maxbytes": "25000000",
}


def _check(result: int, what: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), what)


def mount(source: str | Path, target: str | Path, kind: str = "", flags: int = 0) -> None:
    """Mount, or change a mount; raises `OSError` naming the target."""
    arguments = (os.fsencode(source), os.fsencode(target), kind.encode() or None)
    _check(_libc.mount(*arguments, ctypes.c_ulong(flags), None), str(target))


def make_private() -> None:
    """Stop mounts from travelling between this mount namespace and the host's."""
    mount("none", "/", flags=MS_REC | MS_PRIVATE)


def _open_up(directory: Path, stage: Path) -> None:
    """Let entries be added to `directory` without the host seeing them: a tmpfs with every old entry bound in."""
    stage.mkdir()
    mount(directory, stage, flags=MS_BIND | MS_REC)
    mount("splitbed", directory, kind="tmpfs")
    directory.chmod(stage.stat().st_mode & 0o7777)
    for entry in sorted(stage.iterdir()):
        twin = directory / entry.name
        if entry.is_symlink():
            twin.symlink_to(entry.readlink())
            continue
        if entry.is_dir():
            twin.mkdir()
        else:
            twin.touch()
        mount(entry, twin, flags=MS_BIND | MS_REC)
    _check(_libc.umount2(os.fsencode(stage), MNT_DETACH), str(stage))
    stage.rmdir()


def place(binds: Mapping[str, str], stage: Path) -> None:
    """Bind each directory to its path, which need not exist on the host and is not created there.

    Args:
        binds: path to directory.
        stage: a path that does not exist, in a directory of the cluster's own; used and removed.
    """
    opened: set[Path] = set()
    for path, directory in binds.items():
        target = Path(path).resolve()
        if not target.exists():
            parent = next(parent for parent in target.parents if parent.exists())
            if parent not in opened:
                _open_up(parent, stage)
                opened.add(parent)
            target.mkdir(parents=True)
        mount(directory, target, flags=MS_BIND)


def pin_kernel_settings(directory: Path) -> None:
    """Show the kubelet the kernel settings it wants, and keep the machine's as they are."""
    directory.mkdir(exist_ok=True)
    for path, value in KERNEL_SETTINGS.items():
        if Path(path).exists():
            shown = directory / path.replace("/", "-").strip("-")
            shown.write_text(value + "\n")
            mount(shown, path, flags=MS_BIND)


def node_namespace(node: str, paths: Iterable[str]) -> int:
    """Make a mount namespace where each of `paths` is its subdirectory `node`; return a descriptor of it."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            _check(_libc.unshare(CLONE_NEWNS), "unshare")
            # Shared within the node, as on a machine of its own: volumes may ask for propagation.
            mount("none", "/", flags=MS_REC | MS_PRIVATE)
            for path in paths:
                own = Path(path) / node
                own.mkdir(exist_ok=True)
                mount(own, path, flags=MS_BIND)
            mount("none", "/", flags=MS_REC | MS_SHARED)
            os.write(writer, b"+")
            os.close(writer)
            while True:
                _libc.pause()
        finally:
            os._exit(1)
    os.close(writer)
    try:
        if not os.read(reader, 1):
            raise OSError(f"no mount namespace could be made for node {node}")
        return os.open(f"/proc/{child}/ns/mnt", os.O_RDONLY | os.O_CLOEXEC)
    finally:
        os.close(reader)
        os.kill(child, 9)
        os.waitpid(child, 0)


def entering(namespace: int) -> Callable[[], None]:
    """Return a function for a child before `exec`: it enters the mount namespace."""

    def enter() -> None:
        _check(_libc.setns(namespace, CLONE_NEWNS), "setns")

    return enter
