"""What needs no cluster to be seen of bringing up and taking down."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from experiment.errors import SplitbedError
from rehearsal import cluster as clusters
from rehearsal.cluster import lifecycle
from rehearsal.cluster.layout import Layout
from tests.rehearsal.conftest import Recorder


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPLITBED_HOME", str(tmp_path / "home"))


def test_taking_down_what_is_not_there_says_and_leaves_nothing(recorder: Recorder, tmp_path: Path) -> None:
    clusters.down("nowhere", recorder)
    assert recorder.text == ""
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_what_a_node_has_to_itself_is_found_on_this_machine() -> None:
    layout = Layout.of("some")
    assert layout.on_node("engine-0", "/var/lib/splitbed/weights") == layout.path / "state/splitbed/engine-0/weights"
    assert layout.on_node("engine-1", "/var/log/pods") == layout.path / "logs/pods/engine-1"
    with pytest.raises(ValueError, match="no node has a /var/lib/splitbedder of its own"):
        layout.on_node("engine-0", "/var/lib/splitbedder")


def test_what_a_killed_command_left_is_removed(recorder: Recorder) -> None:
    layout = Layout.of("half")
    layout.make()
    (layout.pki / "ca.crt").write_text("")
    (layout.path / "cgroup-controllers.json").write_text("[")
    assert clusters.find("half") is None
    clusters.down("half", recorder)
    assert not layout.path.parent.exists()


def test_other_clusters_are_left_alone(recorder: Recorder) -> None:
    Layout.of("one").make()
    Layout.of("two").make()
    clusters.down("one", recorder)
    assert Layout.of("two").path.is_dir()


def test_nothing_is_removed_through_a_mount(recorder: Recorder, monkeypatch: pytest.MonkeyPatch) -> None:
    layout = Layout.of("mounted")
    layout.make()
    mounted = layout.state / "with space"
    text = f"tmpfs {str(mounted).replace(' ', chr(92) + '040')} tmpfs rw 0 0\n"
    read = Path.read_text
    monkeypatch.setattr(Path, "read_text", lambda path: text if str(path) == "/proc/self/mounts" else read(path))
    with pytest.raises(SplitbedError, match="with space") as caught:
        clusters.down("mounted", recorder)
    assert "umount" in caught.value.remedy
    assert layout.state.is_dir()


def test_a_name_that_leads_elsewhere_is_refused(recorder: Recorder) -> None:
    with pytest.raises(SplitbedError, match="cannot be used"):
        clusters.down("../images", recorder)


def test_tools_and_the_pause_image_are_asked_for(recorder: Recorder) -> None:
    with pytest.raises(ValueError, match="tools lack coredns, etcd"):
        clusters.up(clusters.ClusterSpec("a"), {}, [], recorder)
    tools = {name: Path("/bin/true") for name in lifecycle._TOOLS}
    image = SimpleNamespace(reference="splitbed.invalid/standin:1", archive=Path("x"))
    with pytest.raises(ValueError, match="pause"):
        clusters.up(clusters.ClusterSpec("a"), tools, [image], recorder)


def test_clusters_of_one_name_in_two_homes_have_cgroups_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = Layout.of("a").cgroup
    monkeypatch.setenv("SPLITBED_HOME", str(tmp_path / "other"))
    assert Layout.of("a").cgroup != first
    assert first.startswith("splitbed-a-")
