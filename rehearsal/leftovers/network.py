"""The network of the namespace we are in: interfaces, addresses, routes, rules, filters, listening sockets."""

import json
import re
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from typing import Any

import psutil

from rehearsal.leftovers.errors import ListingError
from rehearsal.searchpath import on_path

_COUNTERS = re.compile(r"\[\d+:\d+\]")
_SETTLING = 0.1
_TIMEOUT_S = 60
_ROUTE_PARTS = ("type", "dst", "gateway", "dev", "table", "scope", "prefsrc", "metric", "nexthops")
_RULE_PARTS = ("priority", "src", "srclen", "dst", "dstlen", "fwmark", "iif", "oif", "table", "action")


def _run(*argv: str) -> str:
    """Return what a program prints; empty if the machine has no such program, or it refuses."""
    program = on_path(argv[0])
    if program is None:
        return ""
    try:
        done = subprocess.run(
            [program, *argv[1:]], capture_output=True, text=True, errors="replace", check=False, timeout=_TIMEOUT_S
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ListingError(f"`{' '.join(argv)}` did not end well: {error}.", "Run the same command again.") from error
    return done.stdout


def _ip(*argv: str) -> list[dict[str, Any]]:
    """Return what iproute2's `ip` lists; it prints nothing where there is nothing."""
    said = _run("ip", "-json", *argv).strip()
    try:
        found = json.loads(said or "[]")
    except ValueError:
        found = None
    if not (isinstance(found, list) and all(isinstance(item, dict) for item in found)):
        raise ListingError(
            f"`ip -json {' '.join(argv)}` prints no JSON but {said.splitlines()[0][:80]!r}.",
            "The rehearsal needs iproute2's `ip`, which other programs of that name do not replace.",
        )
    return found


def _parts(item: dict[str, Any], names: tuple[str, ...]) -> str:
    return " ".join(f"{name} {item[name]}" for name in names if name in item)


def links() -> Iterator[str]:
    """Yield the interfaces by name, kind and hardware address."""
    for link in _ip("-details", "link", "show"):
        kind = link.get("linkinfo", {}).get("info_kind", link.get("link_type", ""))
        yield f"{link['ifname']} ({kind}, {link.get('address', 'no address')})"


def addresses() -> Iterator[str]:
    """Yield the addresses."""
    for link in _ip("address", "show"):
        for address in link.get("addr_info", []):
            if "local" in address:
                yield f"{address['local']}/{address.get('prefixlen')} on {link['ifname']}"


def routes() -> Iterator[str]:
    """Yield the routes of all tables, and the rules that choose between tables."""
    for family in ("-4", "-6"):
        for route in _ip(family, "route", "show", "table", "all"):
            yield f"{family} {_parts(route, _ROUTE_PARTS)}"
        for rule in _ip(family, "rule", "show"):
            yield f"rule {family} {_parts(rule, _RULE_PARTS)}"


def iptables() -> Iterator[str]:
    """Yield the rules of iptables, without their counters."""
    for program in ("iptables-save", "ip6tables-save", "iptables-legacy-save", "ip6tables-legacy-save"):
        if "legacy" in program and not _legacy_tables(program.startswith("ip6")):
            continue  # asking would load the tables into the kernel
        table = ""
        for line in _run(program).splitlines():
            if line.startswith("*"):
                table = line[1:]
            elif line and not line.startswith("#") and line != "COMMIT":
                yield f"{program.removesuffix('-save')} {table}: {_COUNTERS.sub('', line).strip()}"


def _legacy_tables(six: bool) -> bool:
    try:
        with open("/proc/net/ip6_tables_names" if six else "/proc/net/ip_tables_names") as file:  # noqa: PTH123
            return bool(file.read().strip())
    except OSError:
        return False


def network_namespaces() -> Iterator[str]:
    """Yield the network namespaces that have a name."""
    for item in _ip("netns", "list"):
        yield str(item["name"])


def listening(may_be_ours: Callable[[int], bool]) -> Iterator[str]:
    """Yield the listening sockets of processes that may be ours.

    What no process shows is the kernel's, or of a process outside the container we are in: ours would show.
    """
    found = _internet_sockets()
    if None in found.values():
        # Opened between the look at the processes and the look at the sockets: its process shows now, or it is gone.
        time.sleep(_SETTLING)
        found = _internet_sockets() | {name: pid for name, pid in found.items() if pid is not None}
    for name, pid in found.items():
        if pid is not None and may_be_ours(pid):
            yield f"{name} of process {pid}"
    for connection in psutil.net_connections(kind="unix"):
        if connection.laddr and connection.pid is not None and may_be_ours(connection.pid):
            yield f"unix {connection.laddr} of process {connection.pid}"


def _internet_sockets() -> dict[str, int | None]:
    """Return the processes of listening sockets by protocol, address and port; None where no process has it open."""
    found: dict[str, int | None] = {}
    for connection in psutil.net_connections(kind="inet"):
        udp = connection.type == socket.SOCK_DGRAM and not connection.raddr
        if connection.laddr and (udp or connection.status == psutil.CONN_LISTEN):
            address, port = connection.laddr
            found[f"{'udp' if udp else 'tcp'} {address}:{port}"] = connection.pid
    return found
