"""Whatever is written at whatever place: a problem in our own words, and never pydantic's."""

import copy
import json
import re
from collections.abc import Callable
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field, ValidationError
from pydantic_core import core_schema

from experiment import reasons
from experiment.explain import problems, shown
from experiment.settings import SettingsError, load
from experiment.strict import Strict
from tests.experiment.stacks import NOW
from tests.recording import STACKS, stack_settings

PYDANTICS = re.compile(
    r"[Ii]nput should|should (be|have|match)|\bvalid (string|integer|number|boolean|list|tuple|dictionary|datetime)|"
    r"less than or equal|greater than|at (least|most) \d+ (item|character)|[Ff]ield required|[Ee]xtra inputs|permitted|"
    r"unable to (parse|interpret)|[Vv]alue error|[Aa]ssertion|validation|pydantic|type=|(?<!Restart, )\bNone\b(?! \()|"
    r"\[type|finite number|[Tt]uple|[Dd]ictionary|discriminator|union_tag|literal_error"
)


def paths(value: Any, above: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path for key, part in inner for path in [(*above, key), *paths(part, (*above, key))]]


SETTINGS = {stack: stack_settings(stack) for stack in STACKS}
PATHS = [(stack, path) for stack, settings in SETTINGS.items() for path in paths(settings)]

ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(min_value=-5, max_value=5),
    st.sampled_from([2**31, 2**63, 2**70, -1, 0, 10**400]),
    st.floats(),
    st.floats(min_value=-2, max_value=2),
    st.text(),
    st.sampled_from(["", " ", "None", "null", "true", "0", "kind", "\x00", "x" * 5000, "2026-12-31", "٣", "arm64"]),
    st.lists(st.none() | st.integers() | st.text(), max_size=3),
    st.lists(st.text(), min_size=45, max_size=50),
    st.dictionaries(st.text(max_size=5), st.none() | st.integers() | st.text(), max_size=3),
    st.sampled_from([{"kind": None}, {"kind": 1}, {"kind": []}, {"kind": "x"}, {"mode": None}, {"instance": 1}]),
)


def put(settings: Any, path: tuple[str | int, ...], value: Any) -> None:
    for key in path[:-1]:
        settings = settings[key]
    settings[path[-1]] = value


def only_our_words(text: str) -> None:
    try:
        load(text, NOW)
    except SettingsError as error:
        for problem in error.problems:
            ours = f"{problem.why} {problem.remedy}"
            assert problem.path
            assert problem.why
            assert problem.remedy
            assert not (leak := PYDANTICS.search(ours)), f"{leak}: {problem}"
            assert "\n" not in str(problem)


@given(st.sampled_from(PATHS), ODD)
@pytest.mark.thorough
def test_any_value_at_any_place_is_refused_in_our_words(place: tuple[str, tuple[str | int, ...]], value: Any) -> None:
    stack, path = place
    settings = copy.deepcopy(SETTINGS[stack])
    put(settings, path, value)
    only_our_words(json.dumps(settings))


@given(st.lists(st.tuples(st.sampled_from(PATHS), ODD), min_size=2, max_size=4))
@pytest.mark.thorough
def test_so_are_several_at_once(changes: list[tuple[tuple[str, tuple[str | int, ...]], Any]]) -> None:
    settings = copy.deepcopy(SETTINGS["gemma-1b-split"])
    for (_, path), value in changes:
        try:
            put(settings, path, value)
        except (KeyError, IndexError, TypeError):
            continue
    only_our_words(json.dumps(settings))


class Every(Strict):
    """A field of every kind that the settings use, and some that they do not yet."""

    whole: int = Field(0, ge=1, le=3)
    above: float = Field(1, gt=0, lt=1.5)
    flag: bool = False
    choice: Literal["a", "b"] = "a"
    only: Literal["0.31.0"] = "0.31.0"
    text: str = Field("x", min_length=1, max_length=3)
    pattern: Annotated[str, Field(pattern="^a$")] = "a"
    entries: tuple[int, ...] = Field((), min_length=1, max_length=2)
    mapping: dict[str, int] = Field(default_factory=dict, max_length=1)
    pair: tuple[int, str] = (1, "a")
    multiple: int = Field(2, multiple_of=2)
    numbers: set[int] = Field(default_factory=set)


def why(**given: Any) -> str:
    with pytest.raises(ValidationError) as error:
        Every.model_validate_json(json.dumps(given))
    (problem,) = problems(Every, error.value)
    assert not PYDANTICS.search(f"{problem.why} {problem.remedy}")
    return f"{problem.why}. {problem.remedy}"


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"whole": 0}, "it must be 1 or more. "),
        ({"whole": 4}, "it must be 3 or less. "),
        ({"whole": 1.5}, "it is not a whole number. "),
        ({"whole": "1"}, "it is not a whole number. "),
        ({"whole": True}, "it is not a whole number. "),
        ({"above": 0}, "it must be more than 0. "),
        ({"above": 1.5}, "it must be less than 1.5. "),
        ({"above": "1"}, "it is not a number. "),
        ({"flag": "yes"}, "it is neither true nor false. "),
        ({"flag": 1}, "it is neither true nor false. "),
        ({"choice": "c"}, "it is none of its choices. Choose one of a, b."),
        ({"choice": None}, "it is none of its choices. Choose one of a, b."),
        ({"only": "0.30.0"}, "it is none of its choices. Write 0.31.0, the only one known."),
        ({"text": ""}, "it is empty. "),
        ({"text": "abcd"}, "it is longer than 3 characters. "),
        ({"text": 1}, "it is not text. Put it in quotes. "),
        ({"pattern": "b"}, "it has characters that cannot stand there, or is empty. "),
        ({"entries": []}, "it needs one entry or more. "),
        ({"entries": [1, 2, 3]}, "it has more than 2 entries. "),
        ({"entries": 1}, "it is not a list. "),
        ({"mapping": {"a": 1, "b": 2}}, "it has more than one entry. "),
        ({"mapping": []}, "it is not a mapping of keys to values. "),
        ({"multiple": 3}, "it does not fit here. "),
        ({"numbers": 3}, "it does not fit here. "),
    ],
)
def test_every_bound_has_words_of_its_own(given: dict[str, Any], words: str) -> None:
    assert why(**given).startswith(words)


def test_no_number_is_too_long_for_words() -> None:
    with pytest.raises(ValidationError) as error:
        Every.model_validate_json('{"whole": 1' + "0" * 5000 + "}")
    (problem,) = problems(Every, error.value)
    assert len(str(problem)) < 200


def test_words_are_for_types_that_pydantic_has() -> None:
    words: dict[str, str | Callable[..., str]] = dict(reasons._WORDS)
    assert set(words) <= set(core_schema.ErrorType.__args__)  # type: ignore[attr-defined]


@pytest.mark.parametrize("path", ["engine.env.HF_TOKEN", "model.token_secret", "engine.flags.api-key", "x.password"])
def test_what_may_be_a_secret_is_not_shown(path: str) -> None:
    assert shown("hf_abc", path) == "a value that is not shown"


@pytest.mark.parametrize("path", ["benchmark.tests.0.prompt_tokens", "engine.flags.max-num-batched-tokens", "topology"])
def test_a_count_of_tokens_is_no_secret(path: str) -> None:
    assert shown(12, path) == "12"
