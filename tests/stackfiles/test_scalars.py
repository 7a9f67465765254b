"""Scalars as the real `pulumi config get` showed them (3.274.1, run by hand on a stack file of these very lines)."""

import json
import math

import pytest

from stackfiles.scalars import resolved
from stackfiles.yamltext import read, write

SEEN = {
    "1e3": 1000, "1.5e3": 1500, "1E3": 1000, "1.0e+2": 100, "010": 8, "007": 7, "08": 8, "0_8": 8, "0o10": 8, "0o_7": 7,
    "0O10": 8, "0x1F": 31, "0X1F": 31, "+0x1F": 31, "0x_10": 16, "0b11": 3, "0B11": 3, "-0b11": -3, "0b1_1": 3,
    "+0o10": 8, "-0o10": -8, "1:30": "1:30", "190:20:30.15": "190:20:30.15", "yes": "yes", "no": "no", "on": "on",
    "Yes": "Yes", "y": "y", "TRUE": True, "true": True, ".5": 0.5, "+.5": 0.5, "-.5": -0.5, "5.": 5, ".5e3": 500,
    ".5_0": 0.5, "0.5_0": 0.5, "1_000": 1000, "1__0": 10, "1_": 1, "_1": "_1", "~": None, "null": None, "NULL": None,
    "1e20": 100000000000000000000, "1e22": 1e22, "4096.0": 4096, "-9223372036854775808": -(2**63), "0.1": 0.1,
    "0.31.0": "0.31.0", "1.2.3": "1.2.3", "1e3e": "1e3e", "0x": "0x", "0b2": "0b2", "12e": "12e", "--1": "--1",
    "+": "+", ".": ".", "00": 0, "-0": 0, "!!float 3": 3, "!!int 0x10": 16, "!!bool true": True, "!!str 12": "12",
    "1,000": "1,000", "\u0661": "\u0661", "\uff10": "\uff10",
}  # fmt: skip


@pytest.mark.parametrize("text", SEEN)
def test_a_scalar_is_what_pulumi_takes_it_for(text: str) -> None:
    value = read(text)

    assert json.dumps(value) == json.dumps(SEEN[text])


def test_what_is_no_number_is_known_by_its_word() -> None:
    assert resolved(".inf") == ("float", math.inf)
    assert resolved("-.INF") == ("float", -math.inf)
    assert math.isnan(float(str(resolved(".NaN")[1])))


def test_a_quoted_scalar_is_text() -> None:
    assert read('["1e3", \'010\', "yes"]') == ["1e3", "010", "yes"]


@pytest.mark.parametrize(
    "text",
    ["1e3", "yes", "010", "1:30", "null", "", "2026-12-31", "2026-1-2t3:4:5Z", "9" * 30, "a: b", "é", "x", "=", "<<"],
)
def test_a_text_is_written_so_that_it_stays_one(text: str) -> None:
    assert read(write({"a": text, "b": [text]})) == {"a": text, "b": [text]}


@pytest.mark.parametrize("text", ["1e3", "2026-12-31", "1.5e3", "0o10"])
def test_what_pulumi_would_take_for_something_else_is_quoted(text: str) -> None:
    assert write({"a": text}) == f"a: '{text}'\n"
