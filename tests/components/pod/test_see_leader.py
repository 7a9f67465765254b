import socket
import subprocess
import sys
from pathlib import Path

import pytest

from components.pod import see_leader
from tests.recording import ROOT

HEAD = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
# As a kernel of a little-endian machine wrote them: 10.42.1.7:52814 to 10.42.0.5:29501.
TO_LEADER = "   0: 07012A0A:CE4E 05002A0A:733D 01 00000000:00000000 02:000A 00000000 65532 0 1 2 0 20 4 30 10 -1\n"
CLOSING = TO_LEADER.replace(" 01 ", " 08 ", 1)
MAPPED = (
    "   1: 0000000000000000FFFF000007012A0A:CE4E 0000000000000000FFFF000005002A0A:733D 01 00000000:00000000 "
    "02:000A 00000000 65532 0 1 2 0 20 4 30 10 -1\n"
)
IPV6 = (
    "   2: 000080FE00000000000000000100000A:CE4E B80D0120000000000000000005000000:733D 01 00000000:00000000 "
    "02:000A 00000000 65532 0 1 2 0 20 4 30 10 -1\n"
)
LISTENING = "   3: 00000000:1F40 00000000:0000 0A 00000000:00000000 00:0000 00000000 65532 0 1 1 0 100 0 0 10 0\n"

little_endian = pytest.mark.skipif(sys.byteorder != "little", reason="the recorded table is a little-endian kernel's")


@little_endian
@pytest.mark.parametrize(
    ("table", "expected"),
    [
        (HEAD, []),
        (HEAD + LISTENING, []),
        (HEAD + LISTENING + TO_LEADER, [("10.42.0.5", 29501)]),
        (HEAD + CLOSING, []),
        (HEAD + MAPPED, [("10.42.0.5", 29501)]),
        (HEAD + IPV6, [("2001:db8::5", 29501)]),
        (HEAD + "\n   garbage\n", []),
    ],
)
def test_established_peers_are_read_from_the_kernels_table(table: str, expected: list[tuple[str, int]]) -> None:
    assert list(see_leader.peers(table)) == expected


@little_endian
@pytest.mark.parametrize(
    ("addresses", "port", "seen"),
    [
        ({"10.42.0.5"}, 29501, True),
        ({"10.42.0.9", "10.42.0.5"}, 29501, True),
        ({"10.42.0.9"}, 29501, False),
        ({"10.42.0.5"}, 29502, False),
        (set(), 29501, False),
        (None, 29501, True),
        (None, 29502, False),
    ],
)
def test_the_leader_is_known_by_address_and_port(addresses: set[str] | None, port: int, seen: bool) -> None:
    assert see_leader.sees_leader([HEAD + LISTENING + TO_LEADER], addresses, port) is seen


def probe(port: int, name: str = "127.0.0.1") -> subprocess.CompletedProcess[str]:
    script = Path(ROOT / "components" / "pod" / "see_leader.py")
    command = [sys.executable, "-I", "-S", str(script), str(port)]
    environment = {"LWS_LEADER_ADDRESS": name, "PATH": "/usr/bin:/bin"}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=60)


@pytest.mark.parametrize("family", [socket.AF_INET, socket.AF_INET6])
def test_the_probe_follows_a_real_connection(family: socket.AddressFamily) -> None:
    host = "127.0.0.1" if family == socket.AF_INET else "::1"
    with socket.create_server((host, 0), family=family) as leader:
        port = leader.getsockname()[1]
        assert probe(port, host).returncode == 1, "a listening leader alone is no connection"
        with socket.create_connection((host, port)), leader.accept()[0]:
            assert probe(port, host).returncode == 0
            assert probe(port, "192.0.2.1").returncode == 1, "the same port of another machine is not the leader"
        lost = probe(port, host)
    assert lost.returncode == 1
    assert lost.stderr == f"no established connection to the leader {host} on port {port}\n"
