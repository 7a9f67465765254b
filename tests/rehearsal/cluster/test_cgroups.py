"""Control groups in both versions, in trees that behave like the kernel's where it matters here."""

import errno
from collections.abc import Callable
from pathlib import Path

import pytest

from experiment.errors import SplitbedError
from rehearsal.cluster.cgroups import Cgroups, Hierarchy, hierarchies


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch) -> dict[Path, Callable[[Path], dict[str, str]]]:
    """Roots whose directories get their control files with them, and lose them with them."""
    roots: dict[Path, Callable[[Path], dict[str, str]]] = {}
    mkdir, rmdir = Path.mkdir, Path.rmdir

    def make(path: Path, *arguments: object, **more: object) -> None:
        mkdir(path, *arguments, **more)  # type: ignore[arg-type]
        for root, files in roots.items():
            if path.is_relative_to(root):
                for name, text in files(path).items():
                    (path / name).write_text(text)

    def remove(path: Path) -> None:
        if any(entry.is_dir() for entry in path.iterdir()):
            raise OSError(errno.EBUSY, "Device or resource busy", str(path))
        for entry in path.iterdir():
            entry.unlink()
        rmdir(path)

    monkeypatch.setattr(Path, "mkdir", make)
    monkeypatch.setattr(Path, "rmdir", remove)
    return roots


def enabled_above(path: Path) -> dict[str, str]:
    """What the kernel shows in a new version 2 group: what its parent has enabled, nothing enabled itself."""
    control = (path.parent / "cgroup.subtree_control").read_text()
    return {"cgroup.controllers": control.replace("+", ""), "cgroup.subtree_control": ""}


@pytest.fixture
def unified(tmp_path: Path, kernel: dict[Path, Callable[[Path], dict[str, str]]]) -> Hierarchy:
    root = tmp_path / "cgroup"
    root.mkdir()
    (root / "cgroup.controllers").write_text("cpuset cpu io memory hugetlb pids rdma misc")
    (root / "cgroup.subtree_control").write_text("cpu memory pids")
    kernel[root] = enabled_above
    return Hierarchy(root, unified=True, controllers=frozenset({"cpuset", "cpu", "io", "memory", "hugetlb", "pids"}))


class Control:
    """Collects what is written to cgroup.subtree_control files, and does it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, refuse: str = "") -> None:
        self.written: list[tuple[str, str]] = []
        write = Path.write_text

        def enable(path: Path, text: str, *arguments: object, **more: object) -> int:
            if path.name != "cgroup.subtree_control" or not text.startswith(("+", "-")):
                return write(path, text, *arguments, **more)  # type: ignore[arg-type]
            if text[1:] == refuse:
                raise OSError(errno.EBUSY, "Device or resource busy", str(path))
            self.written.append((path.parent.name, text))
            now = [name for name in path.read_text().split() if name != text[1:]]
            return write(path, " ".join([*now, text[1:]] if text[0] == "+" else now))

        monkeypatch.setattr(Path, "write_text", enable)


def test_version_2_enables_controllers_down_to_the_node_and_undoes_it_at_the_root(
    unified: Hierarchy, monkeypatch: pytest.MonkeyPatch
) -> None:
    control = Control(monkeypatch)
    cgroups = Cgroups("splitbed-a-1", (unified,))
    cgroups.check()
    enabled = cgroups.make(("engine-0",))
    assert enabled == ["cpuset", "io", "hugetlb"]
    node = unified.path / "splitbed-a-1" / "engine-0"
    for controller in ("cpuset", "cpu", "io", "memory", "hugetlb", "pids"):
        assert controller in (node / "cgroup.subtree_control").read_text().split()
    (node / "kubepods").mkdir()
    cgroups.remove(enabled)
    assert not cgroups.exist()
    assert (unified.path / "cgroup.subtree_control").read_text().split() == ["cpu", "memory", "pids"]
    assert control.written[-1] == ("cgroup", "-hugetlb")


def test_version_2_leaves_the_root_alone_while_another_cluster_is_there(
    unified: Hierarchy, monkeypatch: pytest.MonkeyPatch
) -> None:
    Control(monkeypatch)
    first, second = Cgroups("splitbed-a-1", (unified,)), Cgroups("splitbed-b-2", (unified,))
    enabled = first.make(("engine-0",))
    assert second.make(("engine-0",)) == []
    first.remove(enabled)
    assert "cpuset" in (unified.path / "cgroup.subtree_control").read_text().split()


def test_version_2_says_which_controller_cannot_be_enabled(unified: Hierarchy, monkeypatch: pytest.MonkeyPatch) -> None:
    (unified.path / "cgroup.subtree_control").write_text("")
    Control(monkeypatch, refuse="memory")
    with pytest.raises(SplitbedError, match=r"memory cannot be enabled in .*: Device or resource busy") as caught:
        Cgroups("splitbed-a-1", (unified,)).make(("engine-0",))
    assert "kind" in caught.value.remedy


def test_version_2_does_without_controllers_that_nobody_needs(
    unified: Hierarchy, monkeypatch: pytest.MonkeyPatch
) -> None:
    Control(monkeypatch, refuse="hugetlb")
    assert Cgroups("splitbed-a-1", (unified,)).make(()) == ["cpuset", "io"]


@pytest.fixture
def legacy(tmp_path: Path, kernel: dict[Path, Callable[[Path], dict[str, str]]]) -> tuple[Hierarchy, ...]:
    trees = []
    for name in ("cpu,cpuacct", "cpuset", "memory", "pids", "unified"):
        path = tmp_path / name
        path.mkdir()
        trees.append(Hierarchy(path, name == "unified", frozenset(name.split(",")) - {"unified"}))
    for file, text in (("cpuset.cpus", "0-1"), ("cpuset.mems", "0")):
        (tmp_path / "cpuset" / file).write_text(text)
    kernel[tmp_path / "cpuset"] = lambda _: {"cpuset.cpus": "", "cpuset.mems": ""}
    return tuple(trees)


def test_version_1_makes_every_tree_and_fills_the_cpuset(legacy: tuple[Hierarchy, ...], tmp_path: Path) -> None:
    cgroups = Cgroups("splitbed-a-1", legacy)
    cgroups.check()
    assert cgroups.make(("engine-0", "engine-1")) == []
    for tree in ("cpu,cpuacct", "cpuset", "memory", "pids"):
        assert (tmp_path / tree / "splitbed-a-1" / "engine-1").is_dir()
    node = tmp_path / "cpuset" / "splitbed-a-1" / "engine-0"
    assert (node / "cpuset.cpus").read_text() == "0-1"
    assert (node / "cpuset.mems").read_text() == "0"
    assert not (tmp_path / "unified" / "splitbed-a-1").exists()


def test_removal_reaches_every_depth_and_trees_it_did_not_make(legacy: tuple[Hierarchy, ...], tmp_path: Path) -> None:
    cgroups = Cgroups("splitbed-a-1", legacy)
    cgroups.make(("engine-0",))
    (tmp_path / "memory/splitbed-a-1/engine-0/kubepods/burstable/pod1/container").mkdir(parents=True)
    (tmp_path / "unified/splitbed-a-1/engine-0").mkdir(parents=True)  # runc makes it where both versions are
    assert cgroups.exist()
    cgroups.remove([])
    assert not cgroups.exist()
    cgroups.remove([])


def test_removal_tries_again_while_a_group_is_busy(
    legacy: tuple[Hierarchy, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cgroups = Cgroups("splitbed-a-1", legacy)
    cgroups.make(("engine-0",))
    remove, refusals = Path.rmdir, [3]

    def busy(path: Path) -> None:
        if path.name == "engine-0" and refusals[0]:
            refusals[0] -= 1
            raise OSError(errno.EBUSY, "Device or resource busy", str(path))
        remove(path)

    monkeypatch.setattr(Path, "rmdir", busy)
    cgroups.remove([])
    assert refusals == [0]
    assert not cgroups.exist()


def test_missing_controllers_are_named(tmp_path: Path) -> None:
    tree = Hierarchy(tmp_path, unified=False, controllers=frozenset({"cpu"}))
    with pytest.raises(SplitbedError, match="lacks the cgroup controllers memory, pids"):
        Cgroups("x", (tree,)).check()


def test_trees_are_read_from_the_mounts(tmp_path: Path) -> None:
    mounts = tmp_path / "mounts"
    mounts.write_text(
        "proc /proc proc rw 0 0\n"
        "cgroup /sys/fs/cgroup/cpu,cpuacct cgroup rw,nosuid,cpu,cpuacct 0 0\n"
        f"cgroup2 {tmp_path}/with\\040space cgroup2 rw 0 0\n"
    )
    (tmp_path / "with space").mkdir()
    (tmp_path / "with space" / "cgroup.controllers").write_text("cpu memory pids\n")
    first, second = hierarchies(mounts)
    assert (first.path, first.unified) == (Path("/sys/fs/cgroup/cpu,cpuacct"), False)
    assert {"cpu", "cpuacct"} <= first.controllers
    assert second == Hierarchy(tmp_path / "with space", True, frozenset({"cpu", "memory", "pids"}))
