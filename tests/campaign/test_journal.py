"""A journal outlives whatever happens to those who write it."""

from pathlib import Path

import pytest

from campaign.journal import Begun, Ended, Journal, JournalError, Looked, Measured, Started, Stopped
from tests.campaign.conftest import BEGAN, made

ENTRIES = (
    Begun(campaign=made()),
    Started(turn=1, run="r1", attempt=1, at=BEGAN),
    Started(turn=1, run="r1", attempt=2, at=BEGAN),
    Measured(turn=1, run="r1", attempt=2, seconds=None, places=("leader a on b",), at=BEGAN),
    Looked(runs=1, ending="go on", smallest=0.3, at=BEGAN),
    Stopped(why="it is enough", at=BEGAN),
    Ended(how="none", at=BEGAN),
)


def written(path: Path) -> bytes:
    journal = Journal.opened(path)
    for entry in ENTRIES:
        journal.add(entry)
    return path.read_bytes()


def test_what_was_written_is_read(tmp_path: Path) -> None:
    written(tmp_path / "j")
    found = Journal.opened(tmp_path / "j")
    assert found.campaign == made()
    assert found.attempt(1) == 2
    assert found.attempt(2) is None
    assert found.measured == {1: ENTRIES[3]}
    assert found.looks == {1: ENTRIES[4]}
    assert (found.stopped, found.ended) == ENTRIES[5:]


def test_torn_anywhere_it_holds_what_was_promised_and_can_be_gone_on_with(tmp_path: Path) -> None:
    whole = written(tmp_path / "j")
    lines = whole.splitlines(keepends=True)
    ends = [len(b"".join(lines[:number])) for number in range(len(lines) + 1)]
    for length in sorted({end + off for end in ends for off in (-1, 0, 1)} & set(range(len(whole)))):
        path = tmp_path / "torn"
        path.write_bytes(whole[:length])
        kept = sum(length >= end for end in ends[1:])
        journal = Journal.opened(path)
        assert path.read_bytes() == b"".join(lines[:kept])
        for entry in ENTRIES[kept:]:
            journal.add(entry)
        assert path.read_bytes() == whole


@pytest.mark.parametrize("line", [b"{}\n", b"hello\n", b'{"event":"stopped","why":"x"}\n', b"\xff\n"])
def test_what_no_campaign_has_written_is_refused_with_its_line(tmp_path: Path, line: bytes) -> None:
    path = tmp_path / "j"
    path.write_bytes(written(path) + line)
    with pytest.raises(JournalError, match=f"line {len(ENTRIES) + 1}: this is no entry"):
        Journal.opened(path)


def test_one_that_does_not_begin_with_its_campaign_is_refused(tmp_path: Path) -> None:
    (tmp_path / "j").write_text(ENTRIES[1].model_dump_json() + "\n")
    with pytest.raises(JournalError, match="does not say what campaign"):
        Journal.opened(tmp_path / "j")
