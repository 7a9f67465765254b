"""Probe of a worker: has it an established connection to its leader's master port?

A headless worker serves no HTTP, and a leader's `/health` stays at 200 when a worker is gone: this connection is the
one sign of life that both sides share. Usage: `see_leader.py PORT`. Ends with 0 if it is there, else with 1 and a
sentence.
"""

import ipaddress
import os
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

ESTABLISHED = "01"
TABLES = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))


def peers(table: str) -> Iterator[tuple[str, int]]:
    """Yield address and port of the other side of each established connection in a table of the kernel."""
    for line in table.splitlines()[1:]:
        fields = line.split()
        if len(fields) > 3 and fields[3] == ESTABLISHED:
            address, _, port = fields[2].partition(":")
            yield _address(address), int(port, 16)


def _address(digits: str) -> str:
    """Read the kernel's form: 32-bit words, each in the machine's own byte order."""
    words = bytes.fromhex(digits)
    if sys.byteorder == "little":
        words = b"".join(words[i : i + 4][::-1] for i in range(0, len(words), 4))
    address = ipaddress.ip_address(words)
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return str(mapped or address)


def leader_addresses(name: str) -> set[str] | None:
    """Return the leader's addresses, or nothing if names cannot be looked up just now."""
    try:
        return {str(found[4][0]) for found in socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)}
    except OSError:
        return None


def sees_leader(tables: list[str], addresses: set[str] | None, port: int) -> bool:
    """Tell whether a connection to the leader stands; without its address the port decides.

    A DNS server that is away for a moment must not cost a group that works.
    """
    return any(
        peer_port == port and (addresses is None or address in addresses)
        for table in tables
        for address, peer_port in peers(table)
    )


def main(arguments: list[str]) -> int:
    """Look once; return the exit status."""
    name, port = os.environ.get("LWS_LEADER_ADDRESS", ""), int(arguments[0])
    tables = [table.read_text() for table in TABLES if table.exists()]
    if sees_leader(tables, leader_addresses(name), port):
        return 0
    print(f"no established connection to the leader {name or '(unnamed)'} on port {port}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
