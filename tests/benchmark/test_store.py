import errno
import os
from pathlib import Path, PurePosixPath

import pytest

from benchmark.store import Store, StoreError
from experiment.record import parse_record
from tests.benchmark.records import failure, repeat, session


@pytest.fixture
def store(tmp_path: Path) -> Store:
    made = Store(tmp_path / "new" / "results", "1", "0123456789ab")
    made.prepare()
    return made


def files(store: Store) -> set[str]:
    return {str(path.relative_to(store.directory)) for path in store.directory.rglob("*") if path.is_file()}


def test_each_kind_of_record_has_its_place(store: Store) -> None:
    for record in (repeat(1), repeat(2, failure()), repeat(2, failure()), session(), session()):
        path = store.keep(record)
        assert parse_record(path.read_bytes()) == record
    assert files(store) == {
        "one-user-1.json",
        "failed/one-user-2-1.json",
        "failed/one-user-2-2.json",
        "sessions/session-1.json",
        "sessions/session-2.json",
    }
    assert store.finished("one-user", 1) == repeat(1)
    assert store.finished("one-user", 2) is None


def test_all_records_are_told_with_their_paths_and_nothing_else_is(store: Store) -> None:
    for record in (repeat(1), repeat(2, failure()), session()):
        store.keep(record)
    (store.directory / "one-user-3.json").write_bytes(b"{")
    (store.directory / "unreadable" / "one-user-4-1.json").write_bytes(b"{")
    (store.directory / ".one-user-5.json.part").write_bytes(b"{")
    assert list(store.records()) == [
        (PurePosixPath("1/0123456789ab/one-user-1.json"), repeat(1)),
        (PurePosixPath("1/0123456789ab/failed/one-user-2-1.json"), repeat(2, failure())),
        (PurePosixPath("1/0123456789ab/sessions/session-1.json"), session()),
    ]


def test_preparing_twice_is_harmless(store: Store) -> None:
    store.keep(repeat(1))
    store.prepare()
    assert store.finished("one-user", 1) == repeat(1)


@pytest.mark.parametrize("content", [b"", b"{", repeat(1).model_dump_json().encode()[:-9], b"\x00" * 50])
def test_a_damaged_file_is_put_aside_and_not_taken_for_finished(store: Store, content: bytes) -> None:
    (store.directory / "one-user-1.json").write_bytes(content)
    assert store.finished("one-user", 1) is None
    assert (store.directory / "unreadable" / "one-user-1-1.json").read_bytes() == content
    store.keep(repeat(1))
    assert store.finished("one-user", 1) == repeat(1)


def test_what_a_killed_writer_left_is_removed(store: Store) -> None:
    (store.directory / ".one-user-1.json.part").write_bytes(b"{")
    (store.directory / "failed" / ".one-user-1-1.json.part").write_bytes(b"{")
    store.tidy()
    assert files(store) == set()


def test_a_record_is_on_the_disk_before_it_has_its_name(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[str] = []
    fsync, replace = os.fsync, Path.replace

    def note_fsync(descriptor: int) -> None:
        order.append(f"fsync {Path(f'/proc/self/fd/{descriptor}').readlink().name}")
        fsync(descriptor)

    def note_replace(path: Path, target: Path) -> Path:
        order.append(f"rename {path.name} to {target.name}")
        return replace(path, target)

    monkeypatch.setattr(os, "fsync", note_fsync)
    monkeypatch.setattr(Path, "replace", note_replace)
    store.keep(repeat(1))
    assert order == [
        "fsync .one-user-1.json.part",
        "rename .one-user-1.json.part to one-user-1.json",
        "fsync 0123456789ab",
    ]


def test_a_full_disk_is_one_sentence_and_leaves_what_was_there(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    store.keep(repeat(1))

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(StoreError, match=r"one-user-2\.json: No space left on device\. Free some space"):
            store.keep(repeat(2))
    assert files(store) == {"one-user-1.json"}


def test_a_place_that_cannot_be_made_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "results").write_text("a file")
    with pytest.raises(StoreError, match=r"Not a directory|File exists") as caught:
        Store(tmp_path / "results", "1", "x").prepare()
    assert "local disk" in caught.value.remedy
