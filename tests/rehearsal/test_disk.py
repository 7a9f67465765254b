from pathlib import Path

import pytest

from rehearsal.disk import DiskError, require_space


def test_needs_on_one_file_system_add_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rehearsal.disk.free_mib", lambda path: 3000)
    require_space("It", {tmp_path / "a": 1200, tmp_path / "b" / "c": 1200})
    with pytest.raises(DiskError, match=r"It needs about 3\.1 GiB on .*, and only 2\.9 GiB are free\."):
        require_space("It", {tmp_path / "a": 1400, tmp_path / "b" / "c": 1300})
    assert list(tmp_path.iterdir()) == []


def test_what_is_really_free_is_seen(tmp_path: Path) -> None:
    with pytest.raises(DiskError):
        require_space("It", {tmp_path: 2**40})


def test_the_remedy_names_what_would_help_most(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rehearsal.disk.free_mib", lambda path: 100)
    places = {tmp_path / "home": 10, tmp_path / "cache": 500, tmp_path / "modules": 0}
    with pytest.raises(DiskError) as caught:
        require_space("It", places, {tmp_path / "cache": "GOCACHE", tmp_path / "modules": "GOMODCACHE"})
    assert "set GOCACHE and SPLITBED_HOME to" in caught.value.remedy
    assert f"of {tmp_path / 'cache'}," in caught.value.message
    with pytest.raises(DiskError) as caught:
        require_space("It", {tmp_path: 500})
    assert "set SPLITBED_HOME to" in caught.value.remedy
