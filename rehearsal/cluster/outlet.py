"""Carries connections out of the cluster's network, from an address in it to a unix socket of the host.

A unix socket is found by its path, which both sides see, whatever network they are in.
"""

import asyncio
import socket
import sys

from rehearsal.cluster.forwarder import serve


def main() -> None:
    """Run as `python -m rehearsal.cluster.outlet <address> <port> <socket>`."""
    address, port, path = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    listener = socket.create_server((address, port), backlog=128)
    listener.setblocking(False)
    asyncio.run(serve(listener, lambda: asyncio.open_unix_connection(path)))


if __name__ == "__main__":
    main()
