"""Bringing a cluster up, finding it, and taking it down, whatever became of it in between."""

import json
import os
import shutil
import socket
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from rehearsal.cluster import controlplane, firstprocess, kwok, node, processes, status
from rehearsal.cluster.cgroups import Cgroups
from rehearsal.cluster.cluster import Cluster
from rehearsal.cluster.layout import (
    API_ADDRESS,
    API_PORT,
    DNS_ADDRESS,
    STATE_PATHS,
    Layout,
    clusters_home,
    node_address,
)
from rehearsal.cluster.pki import Authority
from rehearsal.cluster.plan import Plan, Program
from rehearsal.cluster.preflight import check
from rehearsal.cluster.record import Record
from rehearsal.cluster.spec import ClusterSpec, Image, Outlet, check_name
from rehearsal.cluster.status import ClusterError
from rehearsal.cluster.unpacked import provide
from rehearsal.home import home
from rehearsal.locks import locked
from rehearsal.progress import Progress

_TOOLS = (*controlplane.PROGRAMS, "kubelet")
_STAY = b"+"


def check_machine() -> None:
    """Raise `SplitbedError`, in one sentence and naming the way out, if this machine cannot run a cluster."""
    check(home())


def up(spec: ClusterSpec, tools: Mapping[str, Path], images: Sequence[Image], progress: Progress) -> Cluster:
    """Bring a cluster up: all nodes Ready, names and Services working, all images on every node.

    If this fails, or its process is killed on the way, nothing runs on; see `down` for the rest.

    Args:
        spec: what it consists of.
        tools: a binary each for etcd, kube-apiserver, kube-controller-manager, kube-scheduler, kube-proxy,
            coredns and kubelet.
        images: for every node; the one named `pause` becomes the sandbox image.
        progress: is told what has come.

    Raises:
        SplitbedError: this machine cannot run it, a cluster of this name runs already, or it does not get ready.
    """
    if missing := sorted(set(_TOOLS) - set(tools)):
        raise ValueError(f"tools lack {', '.join(missing)}")
    sandbox_image = _sandbox_image(images)
    machine = check(home())
    with locked(_lock_file(spec.name), progress.note):
        layout = Layout.of(spec.name)
        if find(spec.name):
            raise ClusterError(f"The cluster {spec.name} is up already.", "Take it down first, or use it as it is.")
        _remove(layout, progress)
        try:
            return _bring_up(spec, tools, images, sandbox_image, machine, layout, progress)
        except BaseException:
            _remove(layout, progress)
            raise


def find(name: str) -> Cluster | None:
    """Return the cluster `name` if it runs and once was ready."""
    layout = Layout.of(name)
    try:
        cluster = Cluster(Record.load(layout.ready), layout)
    except (
        FileNotFoundError,
        ValueError,
        TypeError,
        KeyError,
    ):  # not up, or written by another version: `down` ends it
        return None
    return cluster if cluster.alive() else None


def down(name: str, progress: Progress) -> None:
    """End the cluster `name` and remove what is left of it, from any state, also if there is nothing.

    Raises:
        SplitbedError: something of it could not be ended or removed.
    """
    check_name("cluster", name)
    with locked(_lock_file(name), progress.note):
        _remove(Layout.of(name), progress)


def pids_of(name: str) -> dict[str, int]:
    """Return the PIDs on the host of the cluster's `supervisor` and programs, whether or not it is up yet."""
    return status.pids(Layout.of(name))


def _lock_file(name: str) -> Path:
    return home() / "locks" / f"cluster-{name}"


def _sandbox_image(images: Sequence[Image]) -> str:
    for image in images:
        if image.reference.rpartition("/")[2].partition(":")[0] == "pause":
            return image.reference
    raise ValueError("images lack the pause image")


def _bring_up(
    spec: ClusterSpec,
    tools: Mapping[str, Path],
    images: Sequence[Image],
    sandbox_image: str,
    machine: node.Machine,
    layout: Layout,
    progress: Progress,
) -> Cluster:
    layout.make()
    names = tuple(found.name for found in spec.nodes)
    enabled = Cgroups(layout.cgroup).make(names)
    _enabled_file(layout).write_text(json.dumps(enabled))
    own = layout.path / STATE_PATHS["/var/lib/containerd"]
    provide(images, machine, layout, [own / name for name in names], progress)
    authority = Authority(layout.pki)
    with socket.create_server(("127.0.0.1", 0), backlog=128) as listener:
        server = f"https://127.0.0.1:{listener.getsockname()[1]}"
        authority.kubeconfig(layout.kubeconfig, server, "splitbed-rehearsal", "system:masters")
        programs = [
            *controlplane.programs(layout, tools, authority, spec),
            _forwarder(layout, listener),
            *(_outlet(layout, outlet) for outlet in spec.outlets),
        ]
        for index, found in enumerate(spec.nodes):
            programs += node.programs(layout, tools, machine, authority, found, index, sandbox_image)
        kwok.prepare(layout, authority)
        plan = Plan(
            status=str(layout.status),
            authority=str(authority.certificate),
            addresses=(
                API_ADDRESS,
                DNS_ADDRESS,
                *(node_address(index) for index in range(len(names))),
                *dict.fromkeys(outlet.address for outlet in spec.outlets),
            ),
            binds={path: str(layout.path / below) for path, below in STATE_PATHS.items()},
            nodes=names,
            programs=tuple(programs),
        )
        plan.save(layout.plan)
        reader, writer = os.pipe()
        try:
            firstprocess.start(layout, layout.path, reader, listener)
            cluster = Cluster(Record(spec, machine, server, tuple(image.reference for image in images)), layout)
            cluster.wait_ready(progress)
            cluster.record.save(layout.ready)
            os.write(writer, _STAY)
        finally:
            os.close(reader)
            os.close(writer)
    return cluster


def _forwarder(layout: Layout, listener: socket.socket) -> Program:
    number = listener.fileno()
    return Program(
        name="forwarder",
        argv=(*firstprocess.MODULE_CALL, "rehearsal.cluster.forwarder", str(number), "127.0.0.1", str(API_PORT)),
        log=str(layout.logs / "forwarder.log"),
        listener=number,
    )


def _outlet(layout: Layout, outlet: Outlet) -> Program:
    name = f"outlet-{outlet.address}-{outlet.port}"
    call = (*firstprocess.MODULE_CALL, "rehearsal.cluster.outlet", outlet.address, str(outlet.port), outlet.socket)
    return Program(name=name, argv=call, log=str(layout.logs / f"{name}.log"))


def _enabled_file(layout: Layout) -> Path:
    return layout.path / "cgroup-controllers.json"


def _remove(layout: Layout, progress: Progress) -> None:
    """End and remove everything; the order makes each step safe to repeat after a kill."""
    cgroups = Cgroups(layout.cgroup)
    firstprocess.collect()
    running = any(True for _ in processes.marked(layout.path))
    if not running and not layout.path.exists() and not cgroups.exist():
        return
    if running:
        progress.note(f"ending the processes of the cluster {layout.path.name}")
        processes.end_all(layout.path)
    firstprocess.collect()
    enabled: list[str] = []
    with suppress(FileNotFoundError, json.JSONDecodeError):
        enabled = json.loads(_enabled_file(layout).read_text())
    cgroups.remove(enabled)
    if layout.path.exists():
        _refuse_mounts(layout.path)
        progress.note(f"removing {layout.path}")
        try:
            shutil.rmtree(layout.path)
        except OSError as error:
            raise ClusterError(
                f"{error.filename} cannot be removed: {error.strerror}.", "Mend that, as root."
            ) from None
    with suppress(OSError):  # other clusters are there
        clusters_home().rmdir()


def _refuse_mounts(directory: Path) -> None:
    """Raise `ClusterError` if anything is mounted below: the cluster's own mounts are never seen from here."""
    for line in Path("/proc/self/mounts").read_text().splitlines():
        where = Path(line.split()[1].replace("\\040", " "))
        if where.is_relative_to(directory):
            raise ClusterError(
                f"Something is mounted at {where}, which is about to be removed.",
                f"Find out who mounted it, run `umount {where}`, and take the cluster down again.",
            )
