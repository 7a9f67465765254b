"""A hub on this machine: what its API, its file addresses and its store of large files answer, as the real one does.

As a program: `hubserver.py ADDRESS PORT DIRECTORY`, the store one port higher. There `control.json` has what may be
changed while it serves, and `asked.jsonl` every question that came.
"""

import dataclasses
import hashlib
import json
import sys
import threading
import time
import urllib.parse
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

COMMIT = "0123456789abcdef0123456789abcdef01234567"
LARGE = 1000
"""Files of so many bytes and more are in the store, which is another host."""


@dataclass
class Asked:
    """One question as it came."""

    host: str
    path: str
    range: str
    authorization: str


@dataclass
class Hub:
    """What is there and to whom it is given; may be changed while it serves.

    Attributes:
        token: that opens it; none for a model that is given to anybody.
        let_in: whether the token's owner has accepted the licence.
        cuts: by path, how many bytes of the next answer come before the connection breaks.
        spoilt: by path, how many answers come with a wrong byte.
        busy: how many answers of the store are 503.
        no_ranges: whether the store ignores ranges.
        pace: bytes a second of the store; 0 for as fast as it can.
    """

    files: dict[str, bytes]
    model: str = "google/gemma-3-1b-it"
    token: str | None = None
    let_in: bool = True
    cuts: dict[str, int] = field(default_factory=dict)
    spoilt: dict[str, int] = field(default_factory=dict)
    busy: int = 0
    no_ranges: bool = False
    pace: int = 0
    asked: list[Asked] = field(default_factory=list)
    address: str = ""
    store: str = ""

    heard: Callable[[Asked], None] = lambda _: None

    def fetched(self) -> list[str]:
        """Return the files that were asked for whole or in part, questions for a first byte left out."""
        return [
            one.path.rpartition(f"{COMMIT}/")[2]
            for one in self.asked
            if one.range != "bytes=0-0" and f"{COMMIT}/" in one.path and one.host == "hub"
        ]


def listed(path: str, content: bytes) -> dict[str, object]:
    git = hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()
    told: dict[str, object] = {"rfilename": path, "size": len(content), "blobId": git}
    if len(content) >= LARGE:
        told["lfs"] = {"sha256": hashlib.sha256(content).hexdigest(), "size": len(content), "pointerSize": 134}
    return told


def _handler(hub: Hub, host: str) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            path, _, _ = self.path.partition("?")
            path = urllib.parse.unquote(path)
            authorization = self.headers.get("Authorization", "")
            asked = Asked(host, path, self.headers.get("Range", ""), authorization)
            hub.asked.append(asked)
            hub.heard(asked)
            if host == "store":
                self._of_store(path, authorization)
            else:
                self._of_hub(path, authorization)

        def _of_hub(self, path: str, authorization: str) -> None:
            api, file = f"/api/models/{hub.model}/revision/", f"/{hub.model}/resolve/"
            if authorization and authorization != f"Bearer {hub.token}":
                self._refuse(401, "", "Invalid credentials in Authorization header")
            elif not path.startswith((api, file)):
                self._refuse(404 if authorization else 401, "RepoNotFound", "Repository not found")
            elif path.startswith(api):
                if path.removeprefix(api) not in (COMMIT, "main"):
                    return self._refuse(404, "RevisionNotFound", f"Invalid rev id: {path.removeprefix(api)}")
                siblings = [listed(name, content) for name, content in hub.files.items()]
                body = json.dumps({"sha": COMMIT, "gated": hub.token is not None, "siblings": siblings}).encode()
                self._answer(200, body)
            elif hub.token is not None and not authorization:
                self._refuse(401, "GatedRepo", f"Access to model {hub.model} is restricted. You must be authenticated")
            elif not hub.let_in:
                self._refuse(
                    403,
                    "GatedRepo",
                    f"Access to model {hub.model} is restricted and you are not in the authorized list. Visit "
                    f"https://huggingface.co/{hub.model} to ask for access.",
                )
            else:
                name = path.removeprefix(f"{file}{COMMIT}/")
                if name not in hub.files:
                    self._refuse(404, "EntryNotFound", "Entry not found")
                elif len(hub.files[name]) >= LARGE:
                    there = f"{hub.store}/{COMMIT}/{urllib.parse.quote(name)}?signature=s3cret"
                    self._answer(302, b"", {"location": there})
                else:
                    self._file(name)
            return None

        def _of_store(self, path: str, authorization: str) -> None:
            if authorization:
                self._answer(400, b"Only one auth mechanism allowed")
            elif hub.busy:
                hub.busy -= 1
                self._answer(503, b"")
            else:
                self._file(path.removeprefix(f"/{COMMIT}/"))

        def _file(self, name: str) -> None:
            content, begin = hub.files[name], 0
            given = self.headers.get("Range", "") if not hub.no_ranges else ""
            if given:
                first, _, last = given.removeprefix("bytes=").partition("-")
                begin = int(first)
                content = content[begin : int(last) + 1 if last else None]
            if hub.spoilt.get(name):
                hub.spoilt[name] -= 1
                content = bytes([content[0] ^ 1]) + content[1:]
            headers = {"content-range": f"bytes {begin}-{begin + len(content) - 1}/*"} if given else {}
            cut = hub.cuts.pop(name, None) if given != "bytes=0-0" else None
            self._answer(206 if given else 200, content, headers, cut)

        def _refuse(self, status: int, code: str, message: str) -> None:
            self._answer(status, b"refused", {"x-error-code": code, "x-error-message": message})

        def _answer(
            self, status: int, body: bytes, headers: dict[str, str] | None = None, cut: int | None = None
        ) -> None:
            self.send_response(status)
            for name, value in (headers or {}).items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self._write(body if cut is None else body[:cut])
            if cut is not None:
                self.close_connection = True

        def _write(self, body: bytes) -> None:
            if host == "hub" or not hub.pace:
                self.wfile.write(body)
                return
            step = max(hub.pace // 10, 1)
            for begin in range(0, len(body), step):
                self.wfile.write(body[begin : begin + step])
                time.sleep(0.1)

        def log_message(self, *_: object) -> None:
            """Say nothing: it would be said in the test's own output."""

    return Handler


@contextmanager
def serving(files: Mapping[str, bytes], address: str = "127.0.0.1", ports: tuple[int, int] = (0, 0)) -> Iterator[Hub]:
    """A hub that serves, until the block ends."""
    hub = Hub(dict(files))
    servers = {
        host: ThreadingHTTPServer((address, port), _handler(hub, host))
        for host, port in zip(("hub", "store"), ports, strict=True)
    }
    addresses = {host: f"http://{address}:{server.server_address[1]}" for host, server in servers.items()}
    hub.address, hub.store = addresses["hub"], addresses["store"]
    threads = [
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}) for server in servers.values()
    ]
    for thread in threads:
        thread.start()
    try:
        yield hub
    finally:
        for server in servers.values():
            server.shutdown()
            server.server_close()
        for thread in threads:
            thread.join()


LARGEST = 32 * 2**20


def main(address: str, port: int, directory: Path) -> None:
    """Serve a model of one large file until it is killed."""
    files = {
        "config.json": b"{}",
        "tokenizer.json": b"t" * 500,
        "model.safetensors": bytes(range(256)) * (LARGEST // 256),
    }
    with serving(files, address, (port, port + 1)) as hub, (directory / "asked.jsonl").open("a") as log:

        def heard(asked: Asked) -> None:
            print(json.dumps(dataclasses.asdict(asked)), file=log, flush=True)
            for name, value in json.loads((directory / "control.json").read_text()).items():
                setattr(hub, name, value)

        hub.heard = heard
        threading.Event().wait()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]))
