"""The endpoint on a port, with a file of all that it took."""

import json
import socket
import threading
from collections.abc import Sequence
from dataclasses import asdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Self

from rehearsal.cloudwatch.endpoint import Answer, Endpoint, Kept
from rehearsal.cloudwatch.signature import Signed


class Served:
    """Answers until the block ends; every line that is taken is in the file before its request is answered."""

    def __init__(self, endpoint: Endpoint, address: tuple[str, int], file: Path) -> None:
        """Listen at once.

        Args:
            endpoint: what answers.
            address: host and port; port 0 takes any.
            file: gets a JSON object a line: `taken` lines, and `refused` requests with the reason.
        """
        self._endpoint, self._file = endpoint, file
        self._lock = threading.Lock()
        served = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            timeout = 60

            def do_POST(self) -> None:
                served.handle(self)

            do_GET = do_PUT = do_POST  # noqa: N815

            def log_message(self, *_: object) -> None:
                """Say nothing: the file has it all."""

        self._server = ThreadingHTTPServer(address, Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    @property
    def url(self) -> str:
        """Where it is, without a path."""
        host, port = self._server.server_address[:2]
        return f"http://{host!s}:{port}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()

    def handle(self, request: BaseHTTPRequestHandler) -> None:
        """Answer one request."""
        headers = {name.lower(): value for name, value in request.headers.items()}
        body = request.rfile.read(int(headers.get("content-length", 0)))
        url = f"http://{headers.get('host', '')}{request.path}"
        with self._lock:
            answer, kept = self._endpoint.answer(Signed(method=request.command, url=url, headers=headers, body=body))
            self._write(answer, kept)
        if answer.status == 0:
            request.close_connection = True
            request.connection.shutdown(socket.SHUT_RDWR)
            return
        request.send_response(answer.status)
        for name, value in answer.headers.items():
            request.send_header(name, value)
        request.send_header("Content-Length", str(len(answer.body)))
        request.end_headers()
        request.wfile.write(answer.body)

    def _write(self, answer: Answer, kept: Sequence[Kept]) -> None:
        with self._file.open("a") as file:
            for line in kept:
                file.write(json.dumps({"taken": asdict(line)}) + "\n")
            if answer.why:
                file.write(json.dumps({"refused": {"status": answer.status, "why": answer.why}}) + "\n")
