"""The agent beside the engine: what it reads of either version of cgroups, and that the engine takes its place."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

from components.pod import agent
from tests.components.pod.test_see_leader import HEAD, LISTENING, MAPPED, TO_LEADER, little_endian
from tests.recording import ROOT

SCRIPT = ROOT / "components/pod/agent.py"
NETWORK = (
    "Inter-|   Receive                                                |  Transmit\n"
    " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier\n"
    "    lo:     800      8    0    0    0     0          0         0      800       8    0    0    0     0       0\n"
    "  eth0:12345678    910    0    0    0     0          0         0  1112131    1415    0    0    0     0       0\n"
)


def written(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


def counters(tmp_path: Path, own: str, files: dict[str, str]) -> dict[str, Any]:
    written(tmp_path, {"proc/self/cgroup": own, "proc/net/dev": NETWORK, "proc/self/statm": "3000 25 20 1 0 10 0\n"})
    written(tmp_path / "mount", files)
    read: dict[str, Any] = agent.Counters(tmp_path / "proc", tmp_path / "mount").read()
    return read


TWO = {
    "cgroup.controllers": "cpu memory\n",
    "cpu.stat": "usage_usec 1500000\nuser_usec 9\nnr_periods 40\nnr_throttled 7\nthrottled_usec 250000\n",
    "cpu.max": "600000 100000\n",
    "memory.current": "1000\n",
    "memory.max": "5000\n",
    "memory.stat": "anon 300\nfile 600\nkernel 100\nshmem 200\n",
    "memory.events": "low 0\nhigh 0\nmax 3\noom 1\noom_kill 2\n",
}
ONE = {
    "cpu,cpuacct/cpu.stat": "nr_periods 40\nnr_throttled 7\nthrottled_time 250000000\n",
    "cpu,cpuacct/cpu.cfs_quota_us": "600000\n",
    "cpu,cpuacct/cpu.cfs_period_us": "100000\n",
    "cpu,cpuacct/cpuacct.usage": "1500000000\n",
    "memory/memory.usage_in_bytes": "1000\n",
    "memory/memory.stat": "cache 1\nhierarchical_memory_limit 5000\ntotal_cache 600\ntotal_rss 300\ntotal_shmem 200\n",
    "memory/memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n",
}
IN_A_CONTAINER = "4:memory:/kubepods/pod1/c\n3:cpu,cpuacct:/kubepods/pod1/c\n1:name=systemd:/kubepods/pod1/c\n"
CPU = {"used_s": 1.5, "periods": 40, "throttled_periods": 7, "throttled_s": 0.25, "quota_cores": 6}
MEMORY = {
    "used_bytes": 1000,
    "process_bytes": 300,
    "page_cache_bytes": 400,
    "shared_bytes": 200,
    "limit_bytes": 5000,
    "out_of_memory_kills": 2,
}


@pytest.mark.parametrize(("version", "own", "files"), [(2, "0::/\n", TWO), (1, IN_A_CONTAINER, ONE)])
def test_both_versions_tell_the_same(tmp_path: Path, version: int, own: str, files: dict[str, str]) -> None:
    read = counters(tmp_path, own, files)
    assert read["cgroup"] == version
    assert read["cpu"] == pytest.approx(CPU)
    assert read["memory"] == MEMORY
    assert read["network"]["eth0"] == {
        "received_bytes": 12345678,
        "received_packets": 910,
        "sent_bytes": 1112131,
        "sent_packets": 1415,
    }
    assert set(read["network"]) == {"lo", "eth0"}
    assert read["agent"]["resident_bytes"] == 25 * os.sysconf("SC_PAGE_SIZE")
    assert read["agent"]["cpu_s"] > 0


def test_a_cgroup_below_the_mount_is_found(tmp_path: Path) -> None:
    below = {f"kubepods/c/{name}": text for name, text in TWO.items()} | {"cgroup.controllers": "cpu memory\n"}
    assert counters(tmp_path, "0::/kubepods/c\n", below)["memory"] == MEMORY


def test_controllers_with_mounts_of_their_own_are_found(tmp_path: Path) -> None:
    apart = {
        name.replace("cpu,cpuacct/cpuacct", "cpuacct/cpuacct").replace("cpu,cpuacct/", "cpu/"): text
        for name, text in ONE.items()
    }
    read = counters(tmp_path, "3:cpu:/c\n2:cpuacct:/c\n1:memory:/c\n", apart)
    assert (read["cpu"], read["memory"]) == (pytest.approx(CPU), MEMORY)


def test_what_the_kernel_does_not_tell_is_null_and_no_zero(tmp_path: Path) -> None:
    read = counters(
        tmp_path, "0::/\n", {"cgroup.controllers": "", "cpu.stat": "usage_usec 5\n", "cpu.max": "max 100000\n"}
    )
    assert read["cpu"] == {
        "used_s": pytest.approx(5e-6),
        "periods": None,
        "throttled_periods": None,
        "throttled_s": None,
        "quota_cores": None,
    }
    assert set(read["memory"].values()) == {None}


def test_no_limit_of_version_1_is_none(tmp_path: Path) -> None:
    files = {"memory/memory.stat": "hierarchical_memory_limit 9223372036854771712\n"}
    assert counters(tmp_path, "4:memory:/\n", files)["memory"]["limit_bytes"] is None


@little_endian
def test_peers_are_those_of_the_engines_port() -> None:
    to_engine = TO_LEADER.replace("07012A0A:CE4E 05002A0A:733D", "07012A0A:1F40 05002A0A:C001")
    mapped = MAPPED.replace(":CE4E", ":1F40")
    tables = [HEAD + LISTENING + TO_LEADER + to_engine, HEAD + mapped]
    assert list(agent.peers(tables, 8000)) == [("10.42.0.5", 0xC001), ("10.42.0.5", 29501)]
    assert list(agent.peers(tables, 8001)) == []


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


ENGINE = "import os, sys; print(os.getpid(), *sys.argv[1:], flush=True); sys.stdin.read()"
START = [sys.executable, "-I", "-S", str(SCRIPT)]


@contextmanager
def started(*engine: str, engine_port: int = 8000) -> Iterator[tuple[int, subprocess.Popen[str]]]:
    """An engine that ends with its standard input, and the agent's port."""
    port = free_port()
    with subprocess.Popen(
        [*START, str(port), str(engine_port), *engine], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            asked(port, "/else")  # the agent is there
            yield port, process
        finally:
            for child in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split():
                os.kill(int(child), signal.SIGKILL)  # a pod's first process would take it along
            process.kill()


def asked(port: int, path: str) -> tuple[int, dict[str, Any]]:
    for _ in range(500):
        try:
            with urlopen(f"http://127.0.0.1:{port}{path}", timeout=5) as answered:
                return answered.status, json.load(answered)
        except HTTPError as error:
            with error:
                return error.code, json.load(error)
        except OSError:
            time.sleep(0.02)
    raise TimeoutError


def test_the_engine_is_the_first_process_and_its_counters_are_served_beside_it() -> None:
    # Given as it is: nothing of this is looked at by a shell.
    odd = ["--flag=a b", "$(touch /tmp/no)", "; exit", "'\""]
    argv = [sys.executable, "-c", ENGINE, *odd]
    with started(*argv) as (port, engine):
        assert engine.stdout is not None
        assert engine.stdout.readline().rstrip("\n") == " ".join([str(engine.pid), *odd])
        status, told = asked(port, "/counters")
        assert status == 200
        assert told["schema"] == agent.SCHEMA
        assert told["started"] == argv
        assert told["agent"]["cpu_s"] > 0
        assert asked(port, "/peers") == (200, {"schema": agent.SCHEMA, "port": 8000, "peers": []})
        assert asked(port, "/else")[0] == 404


def test_who_is_connected_to_the_engine_is_seen() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        engine_port = listener.getsockname()[1]
        with (
            started("/bin/cat", engine_port=engine_port) as (port, _),
            socket.create_connection(listener.getsockname()) as connection,
        ):
            assert asked(port, "/peers")[1]["peers"] == [list(connection.getsockname())]
            connection.close()
            listener.accept()[0].close()
            assert asked(port, "/peers")[1]["peers"] == []


def test_who_asks_nothing_or_nonsense_keeps_nobody_from_an_answer() -> None:
    with started("/bin/cat") as (port, _):
        with socket.create_connection(("127.0.0.1", port)) as bad:
            bad.sendall(b"\x00\xff nonsense\r\n\r\n")
            assert bad.recv(12) == b"HTTP/1.1 404"
        socket.create_connection(("127.0.0.1", port)).close()
        assert asked(port, "/counters")[0] == 200


def test_signals_that_python_ignores_are_not_ignored_by_the_engine() -> None:
    with started("/bin/sh", "-c", "grep SigIgn /proc/$$/status; read x") as (_, shell):
        assert shell.stdout is not None
        ignored = int(shell.stdout.readline().split()[1], 16)
    assert not ignored & (1 << (signal.SIGPIPE - 1))


def test_an_engine_runs_without_counters_where_the_port_is_taken() -> None:
    with socket.create_server(("", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = subprocess.run(
            [*START, port, "8000", "/bin/echo", "served"], capture_output=True, text=True, check=True, timeout=30
        )
    assert done.stdout == "served\n"
    assert done.stderr.startswith("no counters of this pod: OSError:")


def test_an_engine_that_is_not_there_is_said() -> None:
    with socket.create_server(("", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = subprocess.run(
            [*START, port, "8000", "/no/such"], capture_output=True, text=True, check=False, timeout=30
        )
    assert done.returncode == 127
    assert "/no/such cannot be started: No such file or directory" in done.stderr
