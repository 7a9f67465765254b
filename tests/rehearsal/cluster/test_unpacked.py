"""Stores of unpacked images: made once, given by links, and not kept for ever."""

import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from rehearsal.cluster import unpacked
from rehearsal.cluster.layout import Layout
from rehearsal.cluster.node import Machine
from tests.rehearsal.conftest import Recorder

MACHINE = Machine(Path("/bin/true"), Path("/bin/true"), Path("/"), "overlayfs")


class Maker:
    """Stands in for containerd: a store holds one blob and one database."""

    def __init__(self) -> None:
        self.made = 0

    def __call__(self, images: object, machine: Machine, cluster: Layout) -> Path:
        self.made += 1
        path = cluster.path / "made"
        (path / "blobs").mkdir(parents=True)
        (path / "blobs" / "sha").write_text("blob")
        (path / "blobs" / "link").symlink_to("sha")
        (path / "meta.db").write_text("database")
        return path


@pytest.fixture
def maker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Maker:
    monkeypatch.setenv("SPLITBED_HOME", str(tmp_path / "home"))
    maker = Maker()
    monkeypatch.setattr(unpacked, "_make", maker)
    return maker


def provide(recorder: Recorder, cluster: Path, *references: str, nodes: int = 2) -> list[Path]:
    images = [SimpleNamespace(reference=reference, archive=Path("x")) for reference in references]
    cluster.mkdir(exist_ok=True)
    roots = [cluster / f"node-{number}-{'-'.join(references)}" for number in range(nodes)]
    unpacked.provide(images, MACHINE, Layout(cluster), roots, recorder)
    return roots


def test_nodes_share_files_and_have_databases_of_their_own(maker: Maker, tmp_path: Path, recorder: Recorder) -> None:
    first, second = provide(recorder, tmp_path / "a", "web:1")
    assert (first / "blobs" / "sha").samefile(second / "blobs" / "sha")
    assert (first / "blobs" / "link").is_symlink()
    assert not (first / "meta.db").samefile(second / "meta.db")
    (first / "meta.db").write_text("changed")
    (third,) = provide(recorder, tmp_path / "b", "web:1", nodes=1)
    assert (third / "meta.db").read_text() == "database"
    assert maker.made == 1
    assert [note for note in recorder.notes if "unpacking" in note] == ["unpacking web:1, once for all nodes"]


def test_other_images_are_another_store_and_the_oldest_goes(maker: Maker, tmp_path: Path, recorder: Recorder) -> None:
    place = tmp_path / "home" / "unpacked"
    (oldest,) = provide(recorder, tmp_path / "a", "web:1", nodes=1)
    for age, reference in ((30, "web:2"), (20, "web:3")):
        for store in place.iterdir():
            os.utime(store, (store.stat().st_mtime - age,) * 2)
        provide(recorder, tmp_path / "a", reference)
    assert maker.made == 3
    assert len(list(place.iterdir())) == 2
    assert (oldest / "blobs" / "sha").read_text() == "blob"
    provide(recorder, tmp_path / "c", "web:1")
    assert maker.made == 4


def test_no_lock_file_is_left(maker: Maker, tmp_path: Path, recorder: Recorder) -> None:
    provide(recorder, tmp_path / "a", "web:1")
    assert not (tmp_path / "home" / "locks").exists()
