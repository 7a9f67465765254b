"""The double of GitHub behind a port of this machine."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.forge.github import Repository


@contextmanager
def served(repository: Repository) -> Iterator[str]:
    """Yield the address at which the repository answers."""

    class Handler(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", "0"))) or None
            found = repository(self.command, f"http://double{self.path}", dict(self.headers), body)
            self.send_response(found.status)
            for name, value in {**found.headers, "Content-Length": str(len(found.body))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(found.body)

        do_GET = do_POST = do_PATCH = _answer  # noqa: N815  named by the protocol

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
