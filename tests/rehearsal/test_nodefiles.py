"""Files of nodes through an API server that hands out parts of them, as a kubelet does."""

import json
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from rehearsal import nodefiles
from rehearsal.nodefiles import NodeFiles
from rehearsal.observer import ClusterRefusedError
from tests.apiserver import kubeconfig

BELOW = "/proxy/logs/splitbed/exp-a/"
SELECTORS = ({"splitbed.dev/group": "system"}, {"splitbed.dev/group": "engine"})


class Nodes:
    """Nodes by group, and their files by node and name; `refusal` is a status in place of any file."""

    def __init__(self) -> None:
        self.groups = {"system": ["system-0"], "engine": ["engine-0", "engine-1"]}
        self.files: dict[str, dict[str, bytes]] = {"engine-0": {}}
        self.refusal = 0
        self.asked: list[str] = []

    def answer(self, path: str, span: str) -> tuple[int, bytes]:
        if path.startswith("/api/v1/nodes?"):
            group = path.rpartition("%3D")[2]
            return 200, json.dumps({"items": [{"metadata": {"name": name}} for name in self.groups[group]]}).encode()
        node, _, name = path.removeprefix("/api/v1/nodes/").partition(BELOW)
        if self.refusal:
            return self.refusal, b'{"message": "no right to nodes/proxy"}'
        if node not in self.files:
            return 404, b"404 page not found"
        if not name:
            return 200, "".join(f'<a href="{each}">{each}</a>\n' for each in self.files[node]).encode()
        self.asked.append(span)
        asked = re.fullmatch(r"bytes=(\d+)-(\d+)", span)
        assert asked is not None
        part = self.files[node][name][int(asked[1]) : int(asked[2]) + 1]
        return (206, part) if part else (416, b"invalid range")


@pytest.fixture
def nodes() -> Nodes:
    return Nodes()


@pytest.fixture
def files(nodes: Nodes, tmp_path: Path) -> Iterator[NodeFiles]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, body = nodes.answer(self.path, self.headers.get("Range", ""))
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield NodeFiles(kubeconfig(tmp_path, server.server_port), None, "exp-a")
        server.shutdown()


def document(text: str) -> bytes:
    record = {"timeUnixNano": "1", "body": {"stringValue": text}}
    document = {"resourceLogs": [{"scopeLogs": [{"logRecords": [record]}]}]}
    return json.dumps(document, ensure_ascii=False).encode() + b"\n"


def texts(files: NodeFiles) -> list[str]:
    return [line.text for some in files.lines(SELECTORS) for line in some]


def test_the_files_of_all_nodes_are_read_and_then_what_comes(nodes: Nodes, files: NodeFiles) -> None:
    nodes.files = {"engine-0": {"engine-0.jsonl": document("a")}, "system-0": {"system-0.jsonl": document("b")}}
    assert texts(files) == ["a", "b"]
    assert texts(files) == []
    nodes.files["engine-0"]["engine-0.jsonl"] += document("c")
    assert texts(files) == ["c"]


def test_rotated_files_are_read_too_and_other_nodes_files_are_not(nodes: Nodes, files: NodeFiles) -> None:
    nodes.files = {
        "engine-0": {
            "engine-0-2026-11-30T22-00-00.000-size.jsonl": document("old"),
            "engine-0.jsonl": document("new"),
            "engine-1.jsonl": document("of another node that shares the disk"),
        }
    }
    assert texts(files) == ["old", "new"]


def test_a_document_that_is_being_written_is_read_when_it_is_whole(nodes: Nodes, files: NodeFiles) -> None:
    whole = document("ü" * 40)
    nodes.files["engine-0"]["engine-0.jsonl"] = document("a") + whole[:60]
    assert texts(files) == ["a"]
    nodes.files["engine-0"]["engine-0.jsonl"] = document("a") + whole
    assert texts(files) == ["ü" * 40]


@pytest.mark.parametrize("chunk", [90, 101, 4096])
def test_large_files_come_in_parts_that_cut_no_line(
    nodes: Nodes, files: NodeFiles, chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nodefiles, "_CHUNK", chunk)
    wanted = [f"{number} " + "ä" * (number % 70) for number in range(60)]
    nodes.files["engine-0"]["engine-0.jsonl"] = b"".join(map(document, wanted))
    assert texts(files) == wanted
    assert texts(files) == []


def test_before_the_first_line_there_is_nothing(nodes: Nodes, files: NodeFiles) -> None:
    nodes.files = {}
    assert texts(files) == []


def test_who_may_not_read_is_told_which_right_it_takes(nodes: Nodes, files: NodeFiles) -> None:
    nodes.refusal = 403
    with pytest.raises(ClusterRefusedError) as refused:
        texts(files)
    assert "The logs of node engine-0 cannot be read" in refused.value.message
    assert "no right to nodes/proxy" in refused.value.message
    assert "`nodes/proxy`" in str(refused.value.remedy)
