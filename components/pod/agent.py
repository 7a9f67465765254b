"""Start an engine in this container's first process, and beside it what serves the counters of the container's cgroup.

A sidecar would see its own cgroup only. Usage: `agent.py PORT ENGINE_PORT ENGINE ARGUMENT...`. The engine takes the
place of this process by `exec`, as it would without us; a child stays and answers `GET /counters` (CPU, throttling,
memory, network, and what was started) and `GET /peers` (who is connected to the engine's port) in JSON on PORT. What
the kernel does not tell is null. Without the child the engine runs all the same.
"""

import ipaddress
import json
import os
import signal
import socket
import sys
import time
from collections.abc import Iterator
from pathlib import Path

SCHEMA = 1
LONGEST_S = 1.0
"""For one question: they are answered one after another."""
_LARGEST = 8192
_ESTABLISHED = "01"
_AS_PYTHON_FOUND_THEM = ("SIGPIPE", "SIGXFSZ")
"""Signals that Python ignores for itself; what is ignored stays so over an `exec`."""


class Counters:
    """The cgroup of this process, of version 1 or 2, and the network of its pod."""

    def __init__(self, proc: Path = Path("/proc"), mount: Path = Path("/sys/fs/cgroup")) -> None:
        self._proc = proc
        self._mount = mount
        self._lines = [line.split(":", 2) for line in _text(proc / "self/cgroup").splitlines() if line.count(":") > 1]
        self.version = 2 if (mount / "cgroup.controllers").is_file() else 1

    def read(self) -> dict[str, object]:
        """Return all counters as they are now."""
        return {
            "monotonic_s": time.monotonic(),
            "cgroup": self.version,
            "cpu": self._cpu_1() if self.version == 1 else self._cpu_2(),
            "memory": self._memory_1() if self.version == 1 else self._memory_2(),
            "network": self._network(),
            "agent": {"cpu_s": time.process_time(), "resident_bytes": self._resident()},
        }

    def _cpu_2(self) -> dict[str, float | None]:
        directory = self._directory("")
        stat, (quota, _, period) = _table(directory / "cpu.stat"), _text(directory / "cpu.max").partition(" ")
        return {
            "used_s": _scaled(stat.get("usage_usec"), 1e-6),
            "periods": stat.get("nr_periods"),
            "throttled_periods": stat.get("nr_throttled"),
            "throttled_s": _scaled(stat.get("throttled_usec"), 1e-6),
            "quota_cores": _cores(quota, period),
        }

    def _cpu_1(self) -> dict[str, float | None]:
        directory = self._directory("cpu")
        stat = _table(directory / "cpu.stat")
        return {
            "used_s": _scaled(_whole(_text(self._directory("cpuacct") / "cpuacct.usage")), 1e-9),
            "periods": stat.get("nr_periods"),
            "throttled_periods": stat.get("nr_throttled"),
            "throttled_s": _scaled(stat.get("throttled_time"), 1e-9),
            "quota_cores": _cores(_text(directory / "cpu.cfs_quota_us"), _text(directory / "cpu.cfs_period_us")),
        }

    def _memory_2(self) -> dict[str, int | None]:
        directory = self._directory("")
        stat = _table(directory / "memory.stat")
        return {
            "used_bytes": _whole(_text(directory / "memory.current")),
            "process_bytes": stat.get("anon"),
            "page_cache_bytes": _less(stat.get("file"), stat.get("shmem")),
            "shared_bytes": stat.get("shmem"),
            "limit_bytes": _whole(_text(directory / "memory.max")),
            "out_of_memory_kills": _table(directory / "memory.events").get("oom_kill"),
        }

    def _memory_1(self) -> dict[str, int | None]:
        directory = self._directory("memory")
        stat = _table(directory / "memory.stat")
        limit = stat.get("hierarchical_memory_limit")
        return {
            "used_bytes": _whole(_text(directory / "memory.usage_in_bytes")),
            "process_bytes": stat.get("total_rss"),
            "page_cache_bytes": _less(stat.get("total_cache"), stat.get("total_shmem")),
            "shared_bytes": stat.get("total_shmem"),
            "limit_bytes": None if limit is None or limit >= 1 << 62 else limit,  # the kernel's word for none
            "out_of_memory_kills": _table(directory / "memory.oom_control").get("oom_kill"),
        }

    def _network(self) -> dict[str, dict[str, int]]:
        """Return what each interface of the pod counted, `lo` too."""
        found = {}
        for line in _text(self._proc / "net/dev").splitlines()[2:]:
            name, _, rest = line.partition(":")
            numbers = rest.split()
            if len(numbers) >= 10 and all(number.isdigit() for number in numbers):
                received, sent = [int(number) for number in numbers[:2]], [int(number) for number in numbers[8:10]]
                found[name.strip()] = {
                    "received_bytes": received[0],
                    "received_packets": received[1],
                    "sent_bytes": sent[0],
                    "sent_packets": sent[1],
                }
        return found

    def _resident(self) -> int | None:
        pages = _text(self._proc / "self/statm").split()[1:2]
        return int(pages[0]) * os.sysconf("SC_PAGE_SIZE") if pages else None

    def _directory(self, controller: str) -> Path:
        """Return where a controller (none of them: version 2) tells of this process.

        In a container the mount is the container's own cgroup, whatever path the kernel names.
        """
        for _, names, path in self._lines:
            if controller in names.split(","):
                roots = [self._mount / names, self._mount / controller] if controller else [self._mount]
                for directory in [*(root / path.lstrip("/") for root in roots), *roots]:
                    if directory.is_dir():
                        return directory
        return self._mount / controller


def peers(tables: list[str], port: int) -> Iterator[tuple[str, int]]:
    """Yield address and port of the other side of each established connection to one of our ports."""
    for table in tables:
        for line in table.splitlines()[1:]:
            fields = line.split()
            if len(fields) > 3 and fields[3] == _ESTABLISHED and int(fields[1].rpartition(":")[2], 16) == port:
                address, _, other = fields[2].partition(":")
                yield _address(address), int(other, 16)


def _address(digits: str) -> str:
    """Read the kernel's form: 32-bit words, each in the machine's own byte order."""
    words = bytes.fromhex(digits)
    if sys.byteorder == "little":
        words = b"".join(words[i : i + 4][::-1] for i in range(0, len(words), 4))
    address = ipaddress.ip_address(words)
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return str(mapped or address)


def answer(path: str, counters: Counters, engine_port: int, started: list[str], proc: Path = Path("/proc")) -> object:
    """Return what a path tells, or nothing if there is no such path."""
    if path == "/counters":
        return {"schema": SCHEMA, "started": started, **counters.read()}
    if path == "/peers":
        tables = [_text(proc / "net" / name) for name in ("tcp", "tcp6")]
        return {"schema": SCHEMA, "port": engine_port, "peers": sorted(peers(tables, engine_port))}
    return None


def serve(listener: socket.socket, engine_port: int, started: list[str]) -> None:
    """Answer one question after another, for ever."""
    counters = Counters()
    while True:
        connection, _ = listener.accept()
        with connection:
            try:
                path = _asked(connection)
                found = answer(path, counters, engine_port, started) if path else None
                status = "200 OK" if found is not None else "404 Not Found"
                body = json.dumps(found if found is not None else {"detail": "there are /counters and /peers"}).encode()
                head = f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"
                connection.sendall(f"{head}Connection: close\r\n\r\n".encode() + body)
            except (OSError, ValueError):  # one who asks badly, or goes away, is not to end the others' answers
                continue


def _asked(connection: socket.socket) -> str:
    """Return the path of a GET, or nothing of anything else."""
    end_s, head = time.monotonic() + LONGEST_S, b""
    while b"\r\n\r\n" not in head and len(head) < _LARGEST:
        connection.settimeout(max(0.01, end_s - time.monotonic()))
        piece = connection.recv(_LARGEST)
        if not piece or time.monotonic() > end_s:
            return ""
        head += piece
    words = head.split(b"\r\n", 1)[0].decode("latin-1").split(" ")
    connection.settimeout(LONGEST_S)
    return words[1].partition("?")[0] if len(words) == 3 and words[0] == "GET" else ""


def listen(port: int) -> socket.socket:
    """Listen on a port of every address, whatever kind the pod's are.

    Raises:
        OSError: the port is taken.
    """
    if socket.has_dualstack_ipv6():
        return socket.create_server(("", port), family=socket.AF_INET6, dualstack_ipv6=True)
    return socket.create_server(("", port))


def stay(port: int, engine_port: int, started: list[str]) -> None:
    """Be the child: nothing that happens to it may reach the engine."""
    try:
        os.setsid()
        with listen(port) as listener:
            serve(listener, engine_port, started)
    except Exception as error:  # its last words; the engine knows nothing of it
        print(f"no counters of this pod: {type(error).__name__}: {error}", file=sys.stderr, flush=True)


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""


def _table(path: Path) -> dict[str, int]:
    rows = [line.split() for line in _text(path).splitlines()]
    return {row[0]: int(row[1]) for row in rows if len(row) == 2 and row[1].isdigit()}


def _whole(text: str) -> int | None:
    return int(text) if text.strip().isdigit() else None


def _scaled(count: int | None, unit: float) -> float | None:
    return None if count is None else count * unit


def _less(whole: int | None, part: int | None) -> int | None:
    return None if whole is None or part is None else max(0, whole - part)


def _cores(quota: str, period: str) -> float | None:
    limit, length = _whole(quota), _whole(period)
    return limit / length if limit and length else None


def main(arguments: list[str]) -> int:
    """Fork, and become the engine; return the exit status if that is not to be had."""
    port, engine_port, engine = int(arguments[0]), int(arguments[1]), arguments[2:]
    try:
        if os.fork() == 0:
            stay(port, engine_port, engine)
            os._exit(1)
    except OSError as error:
        print(f"no counters of this pod: {error}", file=sys.stderr, flush=True)
    for name in _AS_PYTHON_FOUND_THEM:
        signal.signal(getattr(signal, name), signal.SIG_DFL)
    try:
        os.execvp(engine[0], engine)  # noqa: S606  no shell is wanted
    except OSError as error:
        print(f"{engine[0]} cannot be started: {error.strerror}", file=sys.stderr, flush=True)
        return 127


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
