import hashlib
import json
import os
import tarfile
from pathlib import Path
from typing import Any

import pytest

from rehearsal.images import Image, lws_manager_image, pause_image
from rehearsal.images.image import ImageConfig, published
from rehearsal.images.layer import Entry, write_entries


def contents(archive: Path) -> dict[str, bytes]:
    with tarfile.open(archive) as tar:
        return {member.name: tar.extractfile(member).read() for member in tar}  # type: ignore[union-attr]


def blob(files: dict[str, bytes], digest: str) -> bytes:
    """Return a blob after checking it against its digest."""
    content = files[f"blobs/{digest.replace(':', '/')}"]
    assert hashlib.sha256(content).hexdigest() == digest.removeprefix("sha256:")
    return content


@pytest.fixture
def binary(tmp_path: Path) -> Path:
    path = tmp_path / "program"
    path.write_bytes(b"\x7fELF and so on")
    return path


@pytest.fixture
def image(binary: Path, tmp_path: Path, recorder: Any) -> Image:
    return lws_manager_image(binary, tmp_path / "home", recorder)


def test_the_archive_is_an_oci_layout(image: Image, binary: Path) -> None:
    files = contents(image.archive)
    assert json.loads(files["oci-layout"]) == {"imageLayoutVersion": "1.0.0"}
    (named,) = json.loads(files["index.json"])["manifests"]
    assert named["annotations"]["io.containerd.image.name"] == image.reference
    manifest = json.loads(blob(files, named["digest"]))
    assert named["size"] == len(blob(files, named["digest"]))
    config = json.loads(blob(files, manifest["config"]["digest"]))
    (layer,) = manifest["layers"]
    assert config["rootfs"]["diff_ids"] == [layer["digest"]]
    assert len(blob(files, layer["digest"])) == layer["size"]


def test_docker_reads_it_too(image: Image) -> None:
    files = contents(image.archive)
    (entry,) = json.loads(files["manifest.json"])
    assert entry["RepoTags"] == [image.reference]
    assert {entry["Config"], *entry["Layers"]} <= set(files)


def test_the_manager_is_where_its_chart_starts_it_and_not_root(image: Image, tmp_path: Path) -> None:
    files = contents(image.archive)
    (entry,) = json.loads(files["manifest.json"])
    config = json.loads(files[entry["Config"]])["config"]
    assert (config["User"], config["Entrypoint"]) == ("65532:65532", ["/manager"])
    (tmp_path / "layer.tar").write_bytes(files[entry["Layers"][0]])
    with tarfile.open(tmp_path / "layer.tar") as tar:
        assert {member.name: member.mode for member in tar} == {"manager": 0o755, "tmp": 0o1777}


def test_the_reference_names_the_content(image: Image, binary: Path, tmp_path: Path, recorder: Any) -> None:
    (entry,) = json.loads(contents(image.archive)["manifest.json"])
    config = entry["Config"].rpartition("/")[2]
    assert image.reference == f"splitbed.invalid/lws-manager:{config[:12]}"
    binary.write_bytes(b"another")
    assert lws_manager_image(binary, tmp_path / "home", recorder).reference != image.reference


def test_it_is_written_once(image: Image, binary: Path, tmp_path: Path, recorder: Any) -> None:
    written = image.archive.stat().st_mtime_ns
    assert lws_manager_image(binary, tmp_path / "home", recorder) == image
    assert image.archive.stat().st_mtime_ns == written
    names = sorted(path.name for path in (tmp_path / "home" / "images").iterdir())
    assert names == [image.archive.with_suffix(".json").name, image.archive.name]
    assert list((tmp_path / "home" / "locks").iterdir()) == []


def test_a_damaged_archive_is_written_anew(image: Image, binary: Path, tmp_path: Path, recorder: Any) -> None:
    sound = image.archive.read_bytes()
    image.archive.write_bytes(sound[:-1] + b"!")
    assert lws_manager_image(binary, tmp_path / "home", recorder) == image
    assert image.archive.read_bytes() == sound


def test_what_a_killed_writer_left_is_cleared(binary: Path, tmp_path: Path, recorder: Any) -> None:
    images = tmp_path / "home" / "images"
    for name in (".writing-x", ".making-y", ".scratch-layers"):
        (images / name / "tree").mkdir(parents=True)
    (tmp_path / "home" / "locks").mkdir()
    (tmp_path / "home" / "locks" / "images").write_text("1\n")
    pause_image(binary, tmp_path / "home", recorder)
    assert list(images.glob(".*")) == []
    assert recorder.notes == []


def test_few_old_ones_are_kept(tmp_path: Path) -> None:
    images = []
    for number in range(5):
        layer = write_entries([Entry("x", bytes([number]))], tmp_path / "layer.tar")
        image = published("x", ImageConfig(user="1:1", entrypoint=("/x",)), (layer,), tmp_path)
        os.utime(image.archive, (number, number))
        images.append(image)
    other = published("x-other", ImageConfig(user="1:1", entrypoint=("/x",)), (layer,), tmp_path)
    kept = [image.archive for image in images[2:]]
    assert sorted(tmp_path.glob("x-*.tar")) == sorted([*kept, other.archive])
    assert sorted(tmp_path.glob("x-*.json")) == sorted(p.with_suffix(".json") for p in [*kept, other.archive])
