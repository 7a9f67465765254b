import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from jsonschema import ValidationError as JsonSchemaError
from pydantic import ValidationError

from experiment.record import FORMULAS, Figures, RepeatRecord, Stamps, Tokens, parse_record, schema
from tests.benchmark.records import failure, repeat, reply, session


@pytest.mark.parametrize("record", [repeat(1), repeat(2, failure()), session()])
def test_a_record_is_read_back_as_it_was_written(record: RepeatRecord) -> None:
    assert parse_record(record.model_dump_json()) == record


@given(
    st.floats(0, 1e3),
    st.lists(st.floats(0, 1e3), max_size=30),
    st.floats(0, 1e7),
    st.floats(1e-6, 1e3),
)
@example(0.0, [2.225073858507e-311], 0.0, 1.0)  # so short that a rate over it is no finite number
def test_figures_survive_the_file_to_the_last_bit(
    ttft_s: float, gaps_s: list[float], boot_s: float, tail_s: float
) -> None:
    chunks_s = [boot_s + ttft_s]
    for gap_s in gaps_s:
        chunks_s.append(chunks_s[-1] + gap_s)
    stamps = Stamps(sent_s=boot_s, headers_s=None, chunks_s=tuple(chunks_s), end_s=chunks_s[-1] + tail_s)
    figures = Figures.of(stamps, len(chunks_s))
    tokens = Tokens(prompt=64, output=len(chunks_s), cached=None)
    changes = {"stamps": stamps, "figures": figures, "tokens": tokens}
    written = repeat(1, reply().model_copy(update=changes))
    assert parse_record(written.model_dump_json()) == written


def test_the_formulas_travel_with_the_record() -> None:
    written = json.loads(repeat(1).model_dump_json())
    assert written["formulas"] == FORMULAS
    assert set(written["requests"][0]["outcome"]["figures"]) <= set(FORMULAS)


@pytest.mark.parametrize("record", [repeat(1), repeat(2, failure()), session()])
def test_a_record_can_be_read_by_the_published_schema(record: RepeatRecord) -> None:
    validator = Draft202012Validator(schema())
    validator.check_schema(schema())
    written = json.loads(record.to_json())
    validator.validate(written)
    with pytest.raises(JsonSchemaError):
        validator.validate(written | {"kind": "other"})


def test_a_figure_changed_by_hand_is_found_out() -> None:
    text = repeat(1).model_dump_json()
    changed = text.replace('"ttft_s":0.5', '"ttft_s":0.4')
    assert changed != text
    with pytest.raises(ValidationError, match="do not follow from the stamps"):
        parse_record(changed)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"schema_version":2', '"schema_version":1'),
        ('"repeat":1', '"repeat":"1"'),
        ('"repeat":1', '"repeat":1,"extra":1'),
        ('"sent_s":1000.0', '"sent_s":2000.0'),
        ('"kind":"repeat"', '"kind":"other"'),
        ('"result":"finished"', '"result":"good"'),
    ],
)
def test_what_is_no_record_of_this_version_is_refused(old: str, new: str) -> None:
    text = repeat(1).model_dump_json()
    assert old in text
    with pytest.raises(ValidationError):
        parse_record(text.replace(old, new))


@pytest.mark.parametrize(
    "stamps",
    [
        Stamps(sent_s=1, headers_s=1, chunks_s=(), end_s=2),
        Stamps(sent_s=1, headers_s=1, chunks_s=(1.5,), end_s=None),
        Stamps(sent_s=1, headers_s=1, chunks_s=(1.0,), end_s=1),
    ],
)
def test_an_unfinished_request_has_no_figures(stamps: Stamps) -> None:
    with pytest.raises(ValueError, match="no figures"):
        Figures.of(stamps, 1)
