"""The API server's way to webhooks: their pods only pretend, and what answers for them runs beside the cluster."""

import json
import socket
import socketserver
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread

_PATIENCE_S = 8.0  # a webhook's own is ten seconds


def configuration(directory: Path) -> Path:
    """Write the API server's configuration: what it calls in the cluster, it calls through the socket."""
    path = directory / "egress.json"
    transport = {"uds": {"udsName": str(directory / "egress.sock")}}
    document = {
        "apiVersion": "apiserver.k8s.io/v1beta1",
        "kind": "EgressSelectorConfiguration",
        "egressSelections": [
            {"name": "cluster", "connection": {"proxyProtocol": "HTTPConnect", "transport": transport}}
        ],
    }
    path.write_text(json.dumps(document))
    return path


@contextmanager
def serving(path: Path, port: int) -> Iterator[None]:
    """Take CONNECT requests at a socket, wherever they are to go, to one port of this machine."""

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            while self.rfile.readline().strip():
                pass
            try:
                target = _connected(port)
            except OSError:
                self.wfile.write(b"HTTP/1.1 502 Nobody answers\r\n\r\n")
                return
            with target:
                self.wfile.write(b"HTTP/1.1 200 OK\r\n\r\n")
                back = Thread(target=_pump, args=(target, self.connection), daemon=True)
                back.start()
                _pump(self.connection, target)
                back.join()

    class Server(socketserver.ThreadingUnixStreamServer):
        daemon_threads = True

    with Server(str(path), Handler) as server:
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield
        finally:
            server.shutdown()
            thread.join()


def _connected(port: int) -> socket.socket:
    deadline = time.monotonic() + _PATIENCE_S
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port))
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)


def _pump(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
    with suppress(OSError):
        target.shutdown(socket.SHUT_WR)
