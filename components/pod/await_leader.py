"""Hold a worker back until its leader has a name and listens on its master port.

A worker that starts earlier crashes, and a crash may recreate the whole group. Usage: `await_leader.py PORT SECONDS`.
Ends with 0 when the leader listens, with 1 and one sentence when it did not in time, with 2 when it is not told who
leads.
"""

import os
import socket
import sys
import time

POLL_S = 0.5
CONNECT_S = 3.0
SAY_EVERY_S = 10.0


def missing(address: str, port: int) -> str:
    """Return what the leader still lacks, or nothing if it listens."""
    try:
        found = socket.getaddrinfo(address, port, type=socket.SOCK_STREAM)
    except OSError as error:
        return f"{address} has no address yet ({error})"
    for family, kind, protocol, _, target in found:
        with socket.socket(family, kind, protocol) as connection:
            connection.settimeout(CONNECT_S)
            try:
                connection.connect(target)
            except OSError as error:
                reason = f"nothing listens on {target[0]} port {port} yet ({error})"
            else:
                return ""
    return reason


def await_leader(address: str, port: int, limit_s: float) -> bool:
    """Look twice a second for at most `limit_s` seconds; say what is missing at first and then every ten seconds."""
    begin_s = time.monotonic()
    said_s = begin_s - SAY_EVERY_S
    while True:
        lack = missing(address, port)
        now_s = time.monotonic()
        if not lack:
            print(f"leader {address} listens on port {port} after {now_s - begin_s:.1f} s", flush=True)
            return True
        if now_s - begin_s >= limit_s:
            print(f"gave up on the leader after {limit_s:g} s: {lack}", file=sys.stderr, flush=True)
            return False
        if now_s - said_s >= SAY_EVERY_S:
            said_s = now_s
            print(f"waiting for the leader, {now_s - begin_s:.0f} of {limit_s:g} s: {lack}", flush=True)
        time.sleep(POLL_S)


def main(arguments: list[str]) -> int:
    """Wait for the leader named by the environment; return the exit status."""
    address = os.environ.get("LWS_LEADER_ADDRESS", "")
    if not address:
        print(
            "LWS_LEADER_ADDRESS is not set: this pod was not made by a LeaderWorkerSet, or its controller's webhook "
            "was not asked; without a leader the worker does not start",
            file=sys.stderr,
        )
        return 2
    return 0 if await_leader(address, int(arguments[0]), float(arguments[1])) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
