import json
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from experiment.errors import SplitbedError
from rehearsal.disk import DiskError
from rehearsal.images import Image, ImageError, standin_image

DAY = 24 * 3600


@pytest.fixture
def home(tmp_path: Path, fakes: Any, engine: Any) -> Path:
    return tmp_path / "home"


def layers(image: Image, scratch: Path) -> list[dict[str, tarfile.TarInfo]]:
    found = []
    with tarfile.open(image.archive) as tar:
        (entry,) = json.load(tar.extractfile("manifest.json"))  # type: ignore[arg-type]
        for name in entry["Layers"]:
            tar.extract(name, scratch, filter="data")
            with tarfile.open(scratch / name) as layer:
                found.append({member.name: member for member in layer})
    return found


def base(home: Path) -> Path:
    (tar,) = (home / "images").glob("base-*.tar")
    return tar


def make_older(home: Path, days: float) -> None:
    record = base(home).with_suffix(".json")
    written = json.loads(record.read_text())
    record.write_text(json.dumps(written | {"made": written["made"] - days * DAY}))


def test_it_has_a_debian_below_and_the_engine_above(home: Path, fakes: Any, recorder: Any, tmp_path: Path) -> None:
    image = standin_image(home, recorder)
    below, above = layers(image, tmp_path / "scratch")
    site = "usr/local/lib/python3.11/dist-packages"
    assert {"usr/bin/python3", "usr/bin/python", f"{site}/numpy/__init__.py", "proc"} <= set(below)
    assert [name for name in above if not above[name].isdir()] == [
        "usr/local/bin/vllm",
        f"{site}/rehearsal/__init__.py",
        f"{site}/rehearsal/engine/__main__.py",
        f"{site}/rehearsal/engine/data/profile.json",
    ]
    assert above["usr/local/bin/vllm"].mode == 0o755


def test_what_nobody_reads_is_left_out(home: Path, recorder: Any, tmp_path: Path) -> None:
    below, _ = layers(standin_image(home, recorder), tmp_path / "scratch")
    for name in ("doc", "x.deb", "tests", "os.pyc", "fifo", "proc/1"):
        assert [path for path in below if name in path] == []


def test_packages_come_by_hash_for_the_images_own_python(home: Path, fakes: Any, recorder: Any) -> None:
    standin_image(home, recorder)
    (call,) = fakes.calls("uv")
    assert "--require-hashes" in call
    assert "--python-version 3.11" in call
    assert "requirements/standin.txt" in call
    (call,) = fakes.calls("debootstrap")
    assert "bookworm" in call
    assert call.endswith("http://mirror.invalid/debian")


def test_an_edit_of_the_engine_makes_no_new_debian(
    home: Path, fakes: Any, engine: Callable[[str], None], recorder: Any
) -> None:
    first = standin_image(home, recorder)
    assert standin_image(home, recorder) == first
    engine("second = 2\n")
    second = standin_image(home, recorder)
    assert second.reference != first.reference
    assert len(fakes.calls("debootstrap")) == 1
    assert len(recorder.steps) == 1
    assert list((home / "images").glob(".*")) == []


def test_a_damaged_base_is_made_anew(home: Path, fakes: Any, recorder: Any) -> None:
    first = standin_image(home, recorder)
    sound = base(home).read_bytes()
    base(home).write_bytes(sound[:-1] + b"!")
    assert standin_image(home, recorder) == first
    assert base(home).read_bytes() == sound
    assert len(fakes.calls("debootstrap")) == 2


def test_other_requirements_make_another_base(
    home: Path, fakes: Any, recorder: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    standin_image(home, recorder)
    outdated = base(home)
    other = tmp_path / "standin.txt"
    other.write_text("numpy==1\n")
    monkeypatch.setattr("rehearsal.images.base.REQUIREMENTS", other)
    standin_image(home, recorder)
    assert base(home) != outdated  # and the old one is gone, or there would be two


@pytest.mark.parametrize(("days", "made"), [(29, 1), (31, 2)])
def test_the_base_is_made_anew_after_a_month(home: Path, fakes: Any, recorder: Any, days: int, made: int) -> None:
    standin_image(home, recorder)
    make_older(home, days)
    standin_image(home, recorder)
    assert len(fakes.calls("debootstrap")) == made


def test_an_old_base_is_better_than_none(home: Path, fakes: Any, recorder: Any) -> None:
    first = standin_image(home, recorder)
    make_older(home, 31)
    fakes.write("fails")
    assert standin_image(home, recorder) == first
    assert "over a month old, and could not be made anew" in recorder.notes[-1]


def test_a_failure_is_one_sentence_and_leaves_nothing(home: Path, fakes: Any, recorder: Any) -> None:
    fakes.write("fails")
    with pytest.raises(ImageError, match="Debootstrap of bookworm failed: E: Couldn't download packages: apt"):
        standin_image(home, recorder)
    assert [path.name for path in (home / "images").iterdir()] == ["base.log"]
    assert list((home / "locks").iterdir()) == []


def test_a_full_disk_is_seen_first(home: Path, fakes: Any, recorder: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rehearsal.disk.free_mib", lambda path: 900)
    with pytest.raises(DiskError, match="Making the stand-in's image needs about"):
        standin_image(home, recorder)
    assert fakes.calls("debootstrap") == []


def test_it_takes_root(home: Path, recorder: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    with pytest.raises(SplitbedError, match="takes root"):
        standin_image(home, recorder)
