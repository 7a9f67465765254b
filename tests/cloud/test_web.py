"""Questions over a real connection, on this machine."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from cloud.web import get
from experiment.errors import SplitbedError


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        if self.path == "/moved":
            self.send_response(307)
            self.send_header("Location", "/there")
            self.end_headers()
            return
        body = self.headers.get("Accept", "").encode()
        self.send_response(200 if self.path == "/there" else 404)
        self.send_header("Docker-Content-Digest", "sha256:1")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    served = HTTPServer(("127.0.0.1", 0), _Handler)
    thread = threading.Thread(target=served.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{served.server_port}"
    served.shutdown()
    thread.join()
    served.server_close()


def test_an_answer_has_status_headers_and_body_also_where_it_moved(server: str) -> None:
    answer = get(f"{server}/moved", {"Accept": "text/x"})

    assert (answer.status, answer.body) == (200, b"text/x")
    assert answer.headers["docker-content-digest"] == "sha256:1"
    assert get(f"{server}/other", {}).status == 404


def test_a_place_that_cannot_be_reached_is_named() -> None:
    with pytest.raises(SplitbedError, match=r"127\.0\.0\.1:1 cannot be reached"):
        get("http://127.0.0.1:1/", {})
