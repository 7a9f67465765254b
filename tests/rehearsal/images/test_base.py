import os
import time
from pathlib import Path
from typing import Any

import pytest

from rehearsal.images import base
from rehearsal.images.layer import finished
from rehearsal.packages import PackageError

RECIPE = base.Recipe(name="base", whose="a test's", packages=(), requirements=None, disk_mib=1)


def offline(*_: object) -> None:
    raise PackageError("apt-get update failed: no network")


def old_layer(directory: Path) -> Path:
    target = directory / f"base-{RECIPE.digest()}.tar"
    target.write_bytes(b"layer")
    record = base._Record(sha256=finished(target).sha256, made=time.time() - 40 * 24 * 3600)
    target.with_suffix(".json").write_text(record.model_dump_json())
    return target


@pytest.fixture(autouse=True)
def without_network(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(base, "ensure_packages", offline)


def test_an_old_layer_is_used_where_none_can_be_made(tmp_path: Path, recorder: Any) -> None:
    there = old_layer(tmp_path)

    assert base.base_layer(RECIPE, tmp_path, recorder).path == there
    assert "could not be made anew: apt-get update failed: no network" in recorder.text


def test_without_one_the_reason_is_told(tmp_path: Path, recorder: Any) -> None:
    with pytest.raises(PackageError, match="no network"):
        base.base_layer(RECIPE, tmp_path, recorder)
