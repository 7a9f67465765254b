"""What pydantic found wrong, said to the person who wrote the text: path, value, reason, remedy."""

import difflib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from experiment import shape
from experiment.problem import Problem
from experiment.quantities import plain
from experiment.reasons import choose, reason

_LONGEST_VALUE = 60
_NOTHING_FOUND = frozenset({"missing", "json_invalid"})
_UNREADABLE = frozenset({"json_invalid", "recursion_loop", "recursion_depth_exceeded"})
_NUMBERS = frozenset({"float_type", "float_parsing", "int_type", "int_parsing"})
_PRIVATE = re.compile(r"token|secret|passw|credential|(api|access|private)[_-]?key|\benv\b", re.IGNORECASE)
_COUNTED = re.compile(r"[a-z][_-]tokens\b")


def problems(model: type[BaseModel], error: ValidationError) -> list[Problem]:
    """Return one problem for each of pydantic's, in the order of the text.

    Args:
        model: the model that refused the text; its fields' descriptions become remedies.
        error: what it raised.
    """
    return [_problem(model, detail) for detail in error.errors(include_url=False)]


def _problem(model: type[BaseModel], detail: ErrorDetails) -> Problem:
    place = _find(model, detail["loc"])
    context = detail.get("ctx") or {}
    if detail["type"] in ("union_tag_invalid", "union_tag_not_found"):
        return _untold(place, detail)
    path, value = place.path, detail["input"]
    if "key" in context:  # a validator of a whole mapping names the entry that it refuses
        path, value = f"{path}.{_key(context['key'])}", value[context["key"]]
    found = "" if detail["type"] in _NOTHING_FOUND else shown(value, path)
    return Problem(path, found, reason(detail), str(context.get("remedy", _remedy(place, detail))))


def _untold(place: "_Place", detail: ErrorDetails) -> Problem:
    """Say of a union that the key by which its members are told apart has a value that none of them has."""
    told = [tag for tag in map(shape.tag, shape.members(place.annotation)) if tag is not None]
    key, choices = told[0][0], [value for _, value in told]
    path = f"{place.path}.{key}"
    given = detail["input"]
    if not isinstance(given, Mapping):
        return Problem(place.path, shown(given, place.path), "it is not a mapping of keys to values", _expected(place))
    if key not in given:
        return Problem(path, "", "it is missing", choose(None, choices))
    return Problem(path, shown(given[key], path), f"there is no such {key}", choose(given[key], choices))


def _remedy(place: "_Place", detail: ErrorDetails) -> str:
    kind = detail["type"]
    if kind in _UNREADABLE:
        return "Correct the stack file."
    if kind == "missing":
        return f"Add it: {place.description}." if place.description else "Add it."
    if kind == "extra_forbidden":
        near = difflib.get_close_matches(place.path.rpartition(".")[2], place.siblings, n=1)
        known = f"Known here: {', '.join(sorted(place.siblings))}."
        return f"Did you mean {near[0]}? {known}" if near else known
    if kind == "literal_error":
        choices = [str(choice) for one in shape.members(place.annotation) for choice in _choices(one)]
        return choose(detail["input"], choices)
    if kind in _NUMBERS and (number := _meant(place, detail["input"], whole=kind.startswith("int"))) is not None:
        return f"Write {number}. {_expected(place)}"
    return f"Put it in quotes. {_expected(place)}" if kind == "string_type" else _expected(place)


def _meant(place: "_Place", given: object, *, whole: bool) -> str | None:
    """Return the number that was meant by an amount with a unit, or in quotes."""
    number = plain(given, place.path.rpartition(".")[2]) if isinstance(given, str) else None
    if number is None or (whole and not number.is_integer()):
        return None
    return f"{number:.0f}" if number.is_integer() else f"{number:.3f}".rstrip("0")


def _choices(annotation: Any) -> tuple[Any, ...]:
    plain = shape.unwrapped(annotation)
    return get_args(plain) if get_origin(plain) is Literal else ()


def _expected(place: "_Place") -> str:
    return f"Expected: {place.description}." if place.description else "Correct it."


def shown(value: object, path: str) -> str:
    """Return what was found at a path, short, on one line, and nothing of what may be a secret."""
    if _PRIVATE.search(_COUNTED.sub("", path)):
        return "a value that is not shown"
    if isinstance(value, Mapping):
        return f"a mapping of {', '.join(sorted(map(_key, value)))[:_LONGEST_VALUE] or 'nothing'}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return f"a list of {len(value)}"
    text = json.dumps(value, ensure_ascii=True, default=str)
    return text if len(text) <= _LONGEST_VALUE else f"{text[: _LONGEST_VALUE - 3]}..."


@dataclass(frozen=True)
class _Place:
    path: str
    description: str
    annotation: Any
    siblings: tuple[str, ...]


def _find(model: type[BaseModel], location: tuple[int | str, ...]) -> _Place:
    """Walk the models along pydantic's location, which also names the union members it passed through."""
    path: list[str] = []
    here: Any = model
    description = ""
    siblings: tuple[str, ...] = ()
    for step in location:
        told = shape.member(here, step)
        if told is not None:
            here = told
            continue
        here = shape.members(here)[0]
        fields = shape.fields(here)
        siblings = tuple(fields)
        if step == "[key]":
            continue
        path.append(_key(step))
        field = fields.get(str(step))
        if field is not None:
            description, here = field.description or "", field.annotation
        else:
            here = shape.element(here)
    return _Place(".".join(path) or "experiment", description, here, siblings)


def _key(step: object) -> str:
    text = str(step) if str(step).isprintable() and step != "" else json.dumps(step)
    return text if len(text) <= _LONGEST_VALUE else f"{text[: _LONGEST_VALUE - 3]}..."
