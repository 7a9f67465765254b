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
