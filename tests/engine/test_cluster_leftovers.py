"""Things are left on the machine on purpose, each of a kind, and the listing must say so."""

import ctypes
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from rehearsal.cluster.layout import Layout
from rehearsal.leftovers import Listing, diff

pytestmark = [pytest.mark.engine, pytest.mark.skipif(os.geteuid() != 0, reason="leaving these takes root")]

Planting = Callable[[Path], AbstractContextManager[None]]


def run(*argv: str | Path) -> None:
    subprocess.run(argv, check=True)


@contextmanager
def child(directory: Path) -> Iterator[None]:
    with subprocess.Popen(["sleep", "321"]) as process:
        yield
        process.kill()


@contextmanager
def orphan(directory: Path) -> Iterator[None]:
    """Left to init by a parent that is gone, in a session of its own, as a daemon that escaped would be."""
    outcome = subprocess.run(
        ["sh", "-c", "setsid sleep 322 >/dev/null 2>&1 & echo $!"], stdout=subprocess.PIPE, check=True, text=True
    )
    yield
    os.kill(int(outcome.stdout), 9)


@contextmanager
def marked(directory: Path) -> Iterator[None]:
    environment = {**os.environ, "SPLITBED_CLUSTER": str(Layout.of("gone").path)}
    with subprocess.Popen(["sleep", "323"], env=environment, start_new_session=True) as process:
        yield
        process.kill()


@contextmanager
def zombie(directory: Path) -> Iterator[None]:
    pid = os.posix_spawn("/bin/true", ["true"], {})
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    yield
    os.waitpid(pid, 0)


@contextmanager
def mount(directory: Path) -> Iterator[None]:
    run("mount", "-t", "tmpfs", "planted", directory)
    yield
    run("umount", directory)


@contextmanager
def link(directory: Path) -> Iterator[None]:
    run("ip", "link", "add", "planted0", "type", "veth", "peer", "name", "planted1")
    yield
    run("ip", "link", "delete", "planted0")


@contextmanager
def address(directory: Path) -> Iterator[None]:
    run("ip", "address", "add", "10.89.77.1/32", "dev", "lo")
    yield
    run("ip", "address", "delete", "10.89.77.1/32", "dev", "lo")


@contextmanager
def route(directory: Path) -> Iterator[None]:
    run("ip", "route", "add", "blackhole", "10.244.77.0/24")
    yield
    run("ip", "route", "delete", "blackhole", "10.244.77.0/24")


@contextmanager
def rule(directory: Path) -> Iterator[None]:
    run("ip", "rule", "add", "from", "10.244.77.1", "lookup", "777")
    yield
    run("ip", "rule", "delete", "from", "10.244.77.1", "lookup", "777")


@contextmanager
def iptables(directory: Path) -> Iterator[None]:
    run("iptables", "-t", "nat", "-N", "PLANTED")
    run("iptables", "-t", "nat", "-A", "PLANTED", "-p", "tcp", "-j", "RETURN")
    yield


@contextmanager
def network_namespace(directory: Path) -> Iterator[None]:
    place = Path("/run/netns")
    there, mounted = place.exists(), place.is_mount()
    run("ip", "netns", "add", "planted")
    yield
    run("ip", "netns", "delete", "planted")
    if not mounted:
        run("umount", place)
    if not there:
        place.rmdir()


@contextmanager
def control_group(directory: Path) -> Iterator[None]:
    root = Path("/sys/fs/cgroup")
    group = (root if (root / "cgroup.controllers").exists() else root / "memory") / Layout.of("planted").cgroup
    group.mkdir()
    yield
    group.rmdir()


@contextmanager
def state_file(directory: Path) -> Iterator[None]:
    path = Path("/var/lib/cni")
    made = not path.exists()
    path.mkdir(exist_ok=True)
    (path / "planted").touch()
    yield
    (path / "planted").unlink()
    if made:
        path.rmdir()


@contextmanager
def lock_file(directory: Path) -> Iterator[None]:
    path = Path(os.environ["SPLITBED_HOME"]) / "locks" / "planted"
    path.parent.mkdir(parents=True)
    path.touch()
    yield
    path.unlink()


@contextmanager
def cluster_directory(directory: Path) -> Iterator[None]:
    path = Layout.of("planted").path
    path.mkdir(parents=True)
    yield
    path.rmdir()
    path.parent.rmdir()


@contextmanager
def tcp_socket(directory: Path) -> Iterator[None]:
    with socket.create_server(("127.0.0.1", 0)):
        yield


@contextmanager
def unix_socket(directory: Path) -> Iterator[None]:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(directory / "planted.sock"))
        listener.listen()
        yield


CLONE_NEWNET = 0x40000000


@contextmanager
def own_network() -> Iterator[None]:
    """This thread, and what it starts, in a network of the test's own: tables of the host's would stay for good."""
    libc = ctypes.CDLL(None, use_errno=True)
    host = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
    try:
        assert libc.unshare(CLONE_NEWNET) == 0, os.strerror(ctypes.get_errno())
        try:
            run("ip", "link", "set", "lo", "up")
            yield
        finally:
            assert libc.setns(host, CLONE_NEWNET) == 0, os.strerror(ctypes.get_errno())
    finally:
        os.close(host)


PLANTINGS: dict[Planting, tuple[str, ...]] = {
    child: ("process left: ", "sleep 321"),
    orphan: ("process left: ", "sleep 322"),
    marked: ("process left: ", "sleep 323"),
    zombie: ("process left: ", "not collected"),
    mount: ("mount left: ", "tmpfs planted"),
    link: ("network interface left: ", "planted0", "planted1"),
    address: ("address left: ", "10.89.77.1/32 on lo"),
    route: ("route left: ", "10.244.77.0/24"),
    rule: ("route left: rule ", "10.244.77.1"),
    iptables: ("iptables rule left: ", "-A PLANTED", "nftables object left: ", "rule ip nat PLANTED"),
    network_namespace: ("network namespace left: planted", "file left: /run/netns/planted"),
    control_group: ("control group left: ", "splitbed-planted-"),
    state_file: ("file left: ", "/var/lib/cni/planted"),
    lock_file: ("file of the cache left: ", "locks/planted"),
    cluster_directory: ("file of the cache left: ", "clusters/planted"),
    tcp_socket: ("listening socket left: tcp 127.0.0.1:",),
    unix_socket: ("listening socket left: unix ", "planted.sock"),
}


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPLITBED_HOME", str(tmp_path / "home"))


@pytest.mark.parametrize("planting", PLANTINGS, ids=lambda planting: str(planting.__name__))
def test_what_is_left_is_found(planting: Planting, tmp_path: Path) -> None:
    with own_network():
        before = Listing.take()
        with planting(tmp_path):
            left = "\n".join(diff(before, Listing.take()))
    for part in PLANTINGS[planting]:
        assert part in left


def test_what_is_missing_is_found(tmp_path: Path) -> None:
    with own_network():
        with address(tmp_path):
            before = Listing.take()
        assert "address missing: 10.89.77.1/32 on lo" in diff(before, Listing.take())


def test_a_kernel_setting_that_has_changed_is_found(tmp_path: Path) -> None:
    setting = Path("/proc/sys/kernel/panic_on_oops")
    value = setting.read_text()
    before = Listing.take()
    setting.write_text("0" if value.strip() == "1" else "1")
    try:
        left = diff(before, Listing.take())
    finally:
        setting.write_text(value)
    assert any(text.startswith(f"kernel setting left: {setting}") for text in left)
    assert f"kernel setting missing: {setting} = {value.strip()}" in left


def test_other_peoples_processes_are_none_of_ours(tmp_path: Path) -> None:
    """A child of a process that was there before, and a cluster of another home."""
    script = "import subprocess, sys; sys.stdin.readline(); subprocess.run(['sleep', '5'])"
    environment = {**os.environ, "SPLITBED_CLUSTER": str(tmp_path / "other" / "clusters" / "theirs")}
    with subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, env=environment) as theirs:
        before = Listing.take()
        assert theirs.stdin
        theirs.stdin.write(b"\n")
        theirs.stdin.flush()
        time.sleep(0.5)
        left = diff(before, Listing.take())
        theirs.kill()
    assert [text for text in left if "sleep" in text] == []
