import errno
from pathlib import Path

import pytest

from experiment.errors import SplitbedError
from rehearsal.images import Image
from scripts import image


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = tmp_path / "standin.tar"
    archive.touch()
    monkeypatch.setattr(image, "standin_image", lambda *_: Image("splitbed.invalid/standin:x", archive))

    with pytest.raises(SplitbedError, match=r"cannot be written to .*nowhere/x\.tar: No such file") as error:
        image.image(tmp_path / "nowhere" / "x.tar")

    assert error.value.remedy


def test_part_of_an_image_is_not_left_on_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive, target = tmp_path / "standin.tar", tmp_path / "copy.tar"
    archive.write_bytes(b"x" * 3 * 1024**2)

    def full(source: Path, to: Path) -> None:
        to.write_bytes(b"x")
        raise OSError(errno.ENOSPC, "No space left on device", str(to))

    monkeypatch.setattr(image, "standin_image", lambda *_: Image("splitbed.invalid/standin:x", archive))
    monkeypatch.setattr("shutil.copyfile", full)
    with pytest.raises(SplitbedError, match="No space left on device") as error:
        image.image(target)
    assert "4 MiB free" in error.value.remedy
    assert not target.exists()
