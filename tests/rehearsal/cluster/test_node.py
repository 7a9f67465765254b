import json
from pathlib import Path

from rehearsal.cluster.node import Machine, base_spec
from rehearsal.cluster.record import Record
from rehearsal.cluster.spec import ClusterSpec, NodeSpec


def ctr(tmp_path: Path) -> Path:
    program = tmp_path / "ctr"
    default = {"process": {"cwd": "/"}, "mounts": [{"destination": "/proc", "type": "proc", "source": "proc"}]}
    program.write_text(f"#!/bin/sh\n[ \"$*\" = 'oci spec' ] && echo '{json.dumps(default)}'\n")
    program.chmod(0o755)
    return program


def test_shown_directories_come_read_only_after_containerds_own_mounts(tmp_path: Path) -> None:
    spec = base_spec(ctr(tmp_path), {"/opt/b": "/host/b", "/opt/a": "/host/a"})
    assert [mount["destination"] for mount in spec["mounts"]] == ["/proc", "/opt/a", "/opt/b"]
    assert spec["mounts"][1]["source"] == "/host/a"
    assert "ro" in spec["mounts"][1]["options"]
    assert spec["process"] == {"cwd": "/"}


def test_a_record_keeps_what_a_node_shows(tmp_path: Path) -> None:
    machine = Machine(tmp_path, tmp_path, tmp_path, "native")
    spec = ClusterSpec("c", (NodeSpec("n", {"a": "b"}, {"/opt/a": "/host/a"}),))
    Record(spec, machine, "https://127.0.0.1:1", ("pause:1",)).save(tmp_path / "ready.json")
    assert Record.load(tmp_path / "ready.json").spec == spec
