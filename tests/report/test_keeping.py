"""Records are whole, and stay what they were."""

from pathlib import Path

import pytest

from report.keeping import KeepingError, compared, keep


def test_a_record_is_written_once_and_never_over_another(tmp_path: Path) -> None:
    target = tmp_path / "1" / "plan" / "one-user-1.json"
    assert [compared(target, b"one"), keep(target, b"one"), keep(target, b"one"), keep(target, b"two")] == [
        "new",
        "new",
        "same",
        "different",
    ]
    assert target.read_bytes() == b"one"
    assert list(target.parent.iterdir()) == [target], "no half-written file stays"


def test_to_compare_writes_nothing(tmp_path: Path) -> None:
    assert compared(tmp_path / "one.json", b"one") == "new"
    assert list(tmp_path.iterdir()) == []


def test_what_is_in_the_way_is_said_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "1").write_text("a file, no directory")
    with pytest.raises(KeepingError) as refusal:
        keep(tmp_path / "1" / "one.json", b"one")
    assert str(tmp_path / "1") in refusal.value.message
    (tmp_path / "one.json").mkdir()
    with pytest.raises(KeepingError, match=r"one\.json: "):
        compared(tmp_path / "one.json", b"one")
