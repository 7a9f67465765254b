import json
from pathlib import PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiment.handout import PREFIX, HandoutError, parse_record_line, record_line
from experiment.record import RepeatRecord, SessionRecord
from tests.benchmark.records import failure, repeat, reply, session

DIRECTORY = PurePosixPath("1/0123456789ab")
LINE = record_line(DIRECTORY / "one-user-1.json", repeat(1))


@pytest.mark.parametrize(
    ("name", "record"),
    [
        ("one-user-1.json", repeat(1)),
        ("failed/one-user-2-1.json", repeat(2, failure("it said \u2028 \x85 \r\n\u00e9 splitbed-record"))),
        ("sessions/session-1.json", session()),
    ],
)
def test_a_record_comes_back_from_one_line_of_ascii(name: str, record: RepeatRecord | SessionRecord) -> None:
    line = record_line(DIRECTORY / name, record)
    assert line.isascii()
    assert line.isprintable()
    assert line.startswith(f"{PREFIX}1/0123456789ab/{name} {{")
    assert parse_record_line(line) == (DIRECTORY / name, record)


@given(st.floats(min_value=0.001, max_value=1e5), st.floats(min_value=0, max_value=10))
def test_times_come_back_to_the_last_bit(ttft_s: float, gap_s: float) -> None:
    record = repeat(1, reply(ttft_s, (gap_s, gap_s)))
    assert parse_record_line(record_line(DIRECTORY / "one-user-1.json", record))[1] == record


@pytest.mark.parametrize(
    "path",
    [
        "../0123456789ab/one-user-1.json",
        "1/../0123456789ab/one-user-1.json",
        "/1/0123456789ab/one-user-1.json",
        "1//0123456789ab/one-user-1.json",
        "1/0123456789ab/../one-user-1.json",
        "1/0123456789ab/failed/../one-user-1.json",
        "1/0123456789ab/elsewhere/one-user-1.json",
        "1/0123456789ab/failed/failed/one-user-1.json",
        "1/0123456789ab/.json",
        "1/0123456789ab/.one-user-1.json",
        "1/0123456789ab/one-user-1.json\n",
        "1/0123456789ab/one-user-1.txt",
        "1/0123456789ab/one\x00user.json",
        "1/0123456789ab/one\\user.json",
        f"1/0123456789ab/{'x' * 300}.json",
        "1/run.json",
        "2/0123456789ab/one-user-1.json",
        "1/00000000000a/one-user-1.json",
        "",
    ],
)
def test_a_path_that_is_not_the_records_own_is_refused(path: str) -> None:
    content = LINE.partition(" {")[2]
    with pytest.raises(HandoutError) as refused:
        parse_record_line(f"{PREFIX}{path} {{{content}")
    assert str(refused.value).isprintable()


@given(st.text())
def test_any_other_text_is_refused_in_one_short_line(text: str) -> None:
    for line in (PREFIX + text, f"{PREFIX}1/0123456789ab/one-user-1.json {text}", text):
        with pytest.raises(HandoutError) as refused:
            parse_record_line(line)
        assert str(refused.value).isprintable()
        assert len(str(refused.value)) < 500


@given(st.integers(min_value=0, max_value=len(LINE) - 1))
def test_a_line_cut_short_is_refused(length: int) -> None:
    with pytest.raises(HandoutError):
        parse_record_line(LINE[:length])


def test_a_changed_figure_is_refused() -> None:
    path, content = LINE.removeprefix(PREFIX).split(" ", 1)
    record = json.loads(content)
    record["requests"][0]["outcome"]["figures"]["ttft_s"] /= 2
    with pytest.raises(HandoutError, match="the record was changed after it was written"):
        parse_record_line(f"{PREFIX}{path} {json.dumps(record)}")
