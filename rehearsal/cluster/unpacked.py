"""Images unpacked once for all nodes, and for later clusters: importing is most of the work of bringing one up.

What containerd keeps of an image, its blobs and the directories unpacked from them, it never changes; each node gets
hard links to these files, and a copy of the databases that name them.
"""

import fcntl
import hashlib
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from rehearsal.cluster import command, firstprocess, node, processes, status
from rehearsal.cluster.layout import STATE_PATHS, Layout
from rehearsal.cluster.node import Machine
from rehearsal.cluster.plan import Plan, Program
from rehearsal.cluster.spec import Image
from rehearsal.home import home
from rehearsal.progress import Progress

_KEPT = 2
_TIMEOUT = 300.0
_NODE = "unpacking"
_ROOT = "/var/lib/containerd"


def provide(
    images: Sequence[Image], machine: Machine, cluster: Layout, roots: Sequence[Path], progress: Progress
) -> None:
    """Give nodes, whose containerd has not run yet, the images.

    What is not there yet is made below the directory of the cluster that is coming up, so that whatever ends that
    ends this too.

    Args:
        images: what the nodes are to have.
        machine: programs to use.
        cluster: the cluster that is coming up.
        roots: containerd's root of each node, which does not exist.
        progress: is told what takes long.

    Raises:
        ClusterError: an image cannot be imported.
    """
    place = home() / "unpacked"
    place.mkdir(parents=True, exist_ok=True)
    with _alone(place, progress):
        store = place / _key(images, machine)
        if not store.exists():
            progress.note(f"unpacking {', '.join(image.reference for image in images)}, once for all nodes")
            _make(images, machine, cluster).rename(store)
        os.utime(store)
        for root in roots:
            _clone(store, root)
        for old in sorted(place.iterdir(), key=lambda path: path.stat().st_mtime)[:-_KEPT]:
            shutil.rmtree(old)  # nodes that use its files keep them


@contextmanager
def _alone(directory: Path, progress: Progress) -> Iterator[None]:
    """Hold a lock on the directory itself: there is no lock file that a killed command could leave."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            progress.note(f"waiting for another command, which is at work in {directory}")
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _clone(store: Path, root: Path) -> None:
    command.output("cp", "--archive", "--link", "--", store, root)
    for database in root.rglob("*.db"):
        content = database.read_bytes()
        database.unlink()  # the link, not the file that others have
        database.write_bytes(content)


def _key(images: Sequence[Image], machine: Machine) -> str:
    version = command.output(machine.containerd, "--version")
    parts = [version, machine.snapshotter, *sorted(image.reference for image in images)]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:12]


def _make(images: Sequence[Image], machine: Machine, cluster: Layout) -> Path:
    layout = Layout(cluster.path / _NODE)
    layout.make()
    plan = Plan(
        status=str(layout.status),
        authority="",
        binds={path: str(layout.path / below) for path, below in STATE_PATHS.items()},
        nodes=(_NODE,),
        programs=(
            _containerd(layout, machine),
            *(node.import_program(layout, machine, _NODE, image) for image in images),
        ),
    )
    plan.save(layout.plan)
    reader, writer = os.pipe()
    try:
        firstprocess.start(layout, cluster.path, reader)
        names = {program.name for program in plan.programs if program.once}
        what = f"The images could not be unpacked within {_TIMEOUT:.0f} s"
        status.wait(layout, cluster.path, lambda: status.done(layout, names), _TIMEOUT, what)
    finally:
        os.close(reader)
        os.close(writer)
    processes.end_all(cluster.path)
    return layout.path / STATE_PATHS[_ROOT] / _NODE


def _containerd(layout: Layout, machine: Machine) -> Program:
    config = layout.config / "containerd.toml"
    config.write_text(
        "version = 2\n"
        f'root = "{_ROOT}"\n'
        'state = "/run/containerd"\n'
        'disabled_plugins = ["io.containerd.grpc.v1.cri", "io.containerd.internal.v1.opt"]\n'
        f'[grpc]\naddress = "{node.SOCKET}"\n'
    )
    argv = (str(machine.containerd), "--config", str(config))
    return Program(name="containerd", argv=argv, log=str(layout.logs / "containerd.log"), node=_NODE)
