"""An API server that says what it is told to say, and the kubeconfig that leads to it."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

Answers = dict[str, tuple[int, object]]
"""Status and body by path; a body that is no text is sent as JSON."""


@contextmanager
def serving(answers: Answers, directory: Path) -> Iterator[Path]:
    """Answer requests with what is in `answers` at that moment; yields the kubeconfig."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, body = answers.get(self.path, (404, {"message": "not found"}))
            text = body if isinstance(body, str) else json.dumps(body)
            self.send_response(status)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield kubeconfig(directory, server.server_port)
        server.shutdown()


def kubeconfig(directory: Path, port: int) -> Path:
    """Write a kubeconfig that leads to a port of this machine."""
    path = directory / "kubeconfig"
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "c", "cluster": {"server": f"http://127.0.0.1:{port}"}}],
        "users": [{"name": "u", "user": {}}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "x",
    }
    path.write_text(json.dumps(document))
    return path
