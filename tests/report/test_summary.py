import shutil
from pathlib import Path
from typing import Any

import pytest

from experiment.record import RepeatRecord, SessionRecord
from report.summary import Spread, read
from tests.benchmark.records import ENGINE, REAL, SHAPE, failure, repeat, reply, session


def write(directory: Path, *records: RepeatRecord | SessionRecord) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    for number, record in enumerate(records):
        (directory / f"{number}.json").write_text(record.model_dump_json())


def test_median_and_range_over_the_repeats(tmp_path: Path) -> None:
    write(
        tmp_path / "1" / "hash",
        repeat(1, reply(0.5, (0.25, 0.25), tail_s=0.0)),
        repeat(2, reply(1.0, (0.5, 1.5), tail_s=0.0)),
        repeat(3, reply(4.0, (1.0, 1.0), tail_s=2.0)),
    )
    summary = read(tmp_path, label="split", nodes=["leader a on n0"])
    (test,) = summary.tests
    assert (summary.label, summary.nodes, summary.directory) == ("split", ("leader a on n0",), tmp_path)
    assert (test.run, test.test, test.repeats, test.failed) == ("1", "one-user", 3, 0)
    assert test.ttft_s == Spread(median=1.0, low=0.5, high=4.0)
    assert test.tpot_s == Spread(median=1.0, low=0.25, high=1.0)
    assert test.longest_gap_s == Spread(median=1.0, low=0.25, high=1.5)
    assert test.tokens_per_s == Spread(median=1.0, low=0.375, high=3.0)
    assert test.simulated
    assert summary.simulated


def test_an_even_number_of_repeats_has_the_middle_of_the_middle_two(tmp_path: Path) -> None:
    write(tmp_path, repeat(1, reply(1.0)), repeat(2, reply(2.0)))
    (test,) = read(tmp_path, label="x").tests
    assert test.ttft_s == Spread(median=1.5, low=1.0, high=2.0)


def test_failures_are_counted_and_enter_no_figure(tmp_path: Path) -> None:
    write(tmp_path, repeat(1, reply(1.0)), repeat(2, failure()), repeat(2, failure()), session())
    (test,) = read(tmp_path, label="x").tests
    assert (test.repeats, test.failed) == (1, 2)
    assert test.ttft_s == Spread(median=1.0, low=1.0, high=1.0)


def test_failures_alone_have_no_figures(tmp_path: Path) -> None:
    write(tmp_path, repeat(1, failure()))
    (test,) = read(tmp_path, label="x").tests
    assert (test.repeats, test.failed, test.ttft_s, test.tokens_per_s) == (0, 1, None, None)


@pytest.mark.parametrize(
    "changes",
    [
        {"run": "2"},
        {"plan_hash": "ba9876543210"},
        {"test": "other"},
        {"prompt": SHAPE.model_copy(update={"shape_hash": "def"})},
        {"topology": {"kind": "single"}},
        {"engine": REAL},
        {"engine": ENGINE.model_copy(update={"version": "0.32.0"})},
    ],
)
def test_what_was_not_measured_alike_is_not_pooled(tmp_path: Path, changes: dict[str, Any]) -> None:
    write(tmp_path, repeat(1), repeat(2), repeat(3, **changes))
    assert [test.repeats for test in read(tmp_path, label="x").tests] == [2, 1]


def test_another_address_of_the_same_engine_is_pooled(tmp_path: Path) -> None:
    write(tmp_path, repeat(1), repeat(2, engine=ENGINE.model_copy(update={"url": "http://other:8000"})))
    assert [test.repeats for test in read(tmp_path, label="x").tests] == [2]


def test_figures_of_a_real_engine_are_not_called_simulated(tmp_path: Path) -> None:
    write(tmp_path, repeat(1, engine=REAL))
    assert not read(tmp_path, label="x").simulated


def test_damaged_files_are_named_and_the_rest_is_read(tmp_path: Path) -> None:
    write(tmp_path / "good", repeat(1))
    whole = repeat(2).model_dump_json()
    bad = {
        "empty.json": "",
        "half.json": whole[: len(whole) // 2],
        "future.json": whole.replace('"schema_version":2', '"schema_version":3'),
        "foreign.json": '{"hello": 1}',
        "binary.json": "\x00\x01",
    }
    for name, text in bad.items():
        (tmp_path / name).write_text(text)
    (tmp_path / ".one-user-3.json.part").write_text("{")
    summary = read(tmp_path, label="x")
    assert [test.repeats for test in summary.tests] == [1]
    reasons = {item.path.name: item.reason for item in summary.unreadable}
    assert set(reasons) == set(bad)
    assert "schema_version" in reasons["future.json"]
    assert all(reasons.values())


def test_a_directory_that_is_not_there_holds_nothing(tmp_path: Path) -> None:
    shutil.rmtree(tmp_path / "gone", ignore_errors=True)
    assert read(tmp_path / "gone", label="x").tests == ()
