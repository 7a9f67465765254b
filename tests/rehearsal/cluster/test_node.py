"""What a node's daemons are told."""

import json
import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest

from rehearsal.cluster import controlplane, node
from rehearsal.cluster.layout import Layout, pod_subnet
from rehearsal.cluster.node import Machine
from rehearsal.cluster.pki import Authority
from rehearsal.cluster.spec import ClusterSpec, NodeSpec

MACHINE = Machine(Path("/usr/bin/containerd"), Path("/usr/bin/ctr"), Path("/usr/lib/cni"), "native")
TOKEN = "a token"  # noqa: S105  nobody's
TOOLS = {name: Path("/tools") / name for name in (*controlplane.PROGRAMS, "kubelet")}


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    layout = Layout(tmp_path / "a")
    layout.make()
    return layout


def test_two_nodes_share_nothing(layout: Layout) -> None:
    authority = Authority(layout.pki)
    found = []
    for index, name in enumerate(("engine-0", "engine-1")):
        spec = NodeSpec(name, {"splitbed.dev/group": "engine", "a": "b"})
        containerd, kubelet = node.programs(layout, TOOLS, MACHINE, authority, spec, index, "splitbed.invalid/pause:1")
        assert containerd.node == kubelet.node == name
        assert "--node-labels=a=b,splitbed.dev/group=engine" in kubelet.argv
        found.append(json.loads((layout.config / name / "kubelet.json").read_text()))
        network = json.loads((layout.config / name / "net.d" / "10-splitbed.conflist").read_text())
        assert network["plugins"][0]["ipam"]["ranges"] == [[{"subnet": pod_subnet(index)}]]
    for key in ("address", "healthzBindAddress", "cgroupRoot", "tlsPrivateKeyFile"):
        assert found[0][key] != found[1][key]
    assert found[0]["cgroupRoot"] == f"/{layout.cgroup}/engine-0"
    # The controller's webhook waits for its certificate to come in: not for a minute and a half.
    assert found[0]["syncFrequency"] == "3s"


def test_containerd_takes_our_pause_image_and_touches_nothing_of_the_hosts(layout: Layout) -> None:
    node.programs(layout, TOOLS, MACHINE, Authority(layout.pki), NodeSpec("only"), 0, "splitbed.invalid/pause:1")
    config = tomllib.loads((layout.config / "only" / "containerd.toml").read_text())
    cri = config["plugins"]["io.containerd.grpc.v1.cri"]
    assert cri["sandbox_image"] == "splitbed.invalid/pause:1"
    assert cri["restrict_oom_score_adj"] is True
    assert cri["disable_apparmor"] is True
    assert cri["cni"]["bin_dir"] == "/usr/lib/cni"
    assert cri["containerd"]["snapshotter"] == "native"
    assert "io.containerd.internal.v1.opt" in config["disabled_plugins"]


def test_imports_are_named_by_node_and_image(layout: Layout) -> None:
    image = SimpleNamespace(reference="splitbed.invalid/standin:abc", archive=Path("/images/standin.tar"))
    program = node.import_program(layout, MACHINE, "engine-0", image)
    assert program.name == "import/engine-0/standin-abc"
    assert program.needs == ("unix:/run/containerd/engine-0/containerd.sock",)
    assert program.once
    assert program.argv[-2:] == ("--snapshotter=native", "/images/standin.tar")


def test_no_program_is_told_a_secret_on_its_command_line(layout: Layout) -> None:
    authority = Authority(layout.pki)
    programs = [
        *controlplane.programs(layout, TOOLS, authority, ClusterSpec("some", (NodeSpec("only"),), token=TOKEN)),
        *node.programs(layout, TOOLS, MACHINE, authority, NodeSpec("only"), 0, "splitbed.invalid/pause:1"),
    ]
    keys = [path.read_text().splitlines()[1] for path in layout.pki.rglob("*.key")]
    said = "\n".join(argument for program in programs for argument in program.argv)
    assert len(keys) > 8
    assert not [key for key in (*keys, TOKEN) if key in said]
    tokens = layout.pki / "tokens.csv"
    assert TOKEN in tokens.read_text()
    assert tokens.stat().st_mode & 0o077 == 0


def test_what_a_program_waits_for_exists(layout: Layout) -> None:
    programs = controlplane.programs(layout, TOOLS, Authority(layout.pki), ClusterSpec("some", (NodeSpec("only"),)))
    names = {program.name for program in programs}
    assert {"gate/api", "gate/dns", "gate/services"} <= names
    for program in programs:
        for need in program.needs:
            assert need.partition(":")[0] in ("tcp", "unix", "http", "https")


def test_services_are_waited_for_without_a_node_where_somebody_else_makes_it() -> None:
    def waited_for(joins: bool) -> str:
        return controlplane.gates(ClusterSpec("some", (NodeSpec("only", joins=joins),)))["gate/services"]

    assert waited_for(joins=True).endswith("/healthz")
    assert waited_for(joins=False).endswith("/livez")
