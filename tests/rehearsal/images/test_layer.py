import os
import tarfile
from pathlib import Path

from rehearsal.images.layer import Entry, write_entries, write_tree


def tree(root: Path, mtime: float) -> Path:
    (root / "bin").mkdir(parents=True)
    (root / "proc" / "1").mkdir(parents=True)
    (root / "bin" / "tool").write_text("tool")
    (root / "bin" / "tool").chmod(0o4755)
    (root / "bin" / "link").symlink_to("tool")
    os.link(root / "bin" / "tool", root / "bin" / "twin")
    os.mkfifo(root / "bin" / "fifo")
    for path in root.rglob("*"):
        os.utime(path, (mtime, mtime), follow_symlinks=False)
    return root


def test_the_same_content_gives_the_same_bytes(tmp_path: Path) -> None:
    one = write_tree(tree(tmp_path / "a", 1.0), tmp_path / "a.tar")
    two = write_tree(tree(tmp_path / "b", 2.0**31), tmp_path / "b.tar")
    assert one.sha256 == two.sha256
    assert (tmp_path / "a.tar").read_bytes() == (tmp_path / "b.tar").read_bytes()
    assert one.size == (tmp_path / "a.tar").stat().st_size


def test_a_tree_is_kept_but_for_what_a_kernel_provides(tmp_path: Path) -> None:
    layer = write_tree(tree(tmp_path / "a", 1.0), tmp_path / "a.tar")
    with tarfile.open(layer.path) as tar:
        members = {member.name: member for member in tar}
    assert sorted(members) == ["bin", "bin/link", "bin/tool", "bin/twin", "proc"]
    assert members["bin/tool"].mode == 0o4755
    assert members["bin/link"].linkname == "tool"
    assert members["bin/twin"].islnk()
    assert members["bin/tool"].uid == (tmp_path / "a" / "bin" / "tool").stat().st_uid


def test_entries_bring_their_directories_and_are_roots(tmp_path: Path) -> None:
    entries = [Entry("usr/bin/x", b"x", 0o755), Entry("tmp", None, 0o1777)]
    layer = write_entries(entries, tmp_path / "x.tar")
    assert layer.sha256 == write_entries(reversed(entries), tmp_path / "y.tar").sha256
    with tarfile.open(layer.path) as tar:
        found = [(member.name, member.mode, member.uid, member.isdir()) for member in tar]
    assert found == [
        ("tmp", 0o1777, 0, True),
        ("usr", 0o755, 0, True),
        ("usr/bin", 0o755, 0, True),
        ("usr/bin/x", 0o755, 0, False),
    ]
