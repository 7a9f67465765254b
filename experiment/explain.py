"""What pydantic found wrong, said to the person who wrote the text: path, value, reason, remedy."""

import difflib
import json
import re
import types
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from experiment.problem import Problem

_LONGEST_VALUE = 60
_NOTHING_FOUND = frozenset({"missing", "json_invalid"})
_PRIVATE = re.compile(r"token|secret|passw|credential|(api|access|private)[_-]?key|\benv\b", re.IGNORECASE)


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
    why, remedy = _words(detail, place)
    path, value = place.path, detail["input"]
    if "key" in context:  # a validator of a whole mapping names the entry that it refuses
        path, value = f"{path}.{context['key']}", value[context["key"]]
    found = "" if detail["type"] in _NOTHING_FOUND else _shown(value, path)
    return Problem(path, found, why, str(context.get("remedy", remedy)))


def _words(detail: ErrorDetails, place: "_Place") -> tuple[str, str]:
    context: dict[str, Any] = detail.get("ctx") or {}
    wanted = f"Expected: {place.description}." if place.description else "Correct it."
    match detail["type"]:
        case "missing":
            return "it is missing", f"Add it: {place.description}." if place.description else "Add it."
        case "extra_forbidden":
            near = difflib.get_close_matches(place.path.rpartition(".")[2], place.siblings, n=1)
            known = f"Known here: {', '.join(sorted(place.siblings))}."
            return "there is no such key", f"Did you mean {near[0]}? {known}" if near else known
        case "union_tag_not_found":
            return f"it does not say its {_plain(context['discriminator'])}", wanted
        case "union_tag_invalid":
            unknown = f"there is no {_plain(context['discriminator'])} {json.dumps(context['tag'])}"
            return unknown, f"Choose one of {_plain(context['expected_tags'])}."
        case "string_type":
            return "it is not text", f"Put it in quotes. {wanted}"
        case "date_type" | "date_parsing" | "date_from_datetime_parsing" | "date_from_datetime_inexact":
            return "it is not a date", wanted
        case "json_invalid" | "recursion_loop":
            return f"it cannot be read ({context.get('error', 'nested too deep')})", "Correct the stack file."
        case "model_type" | "model_attributes_type" | "dict_type":
            return "it is not a mapping of keys to values", wanted
        case "tuple_type":
            return "it is not a list", wanted
        case "string_pattern_mismatch":
            return "it has characters that cannot stand there, or is empty", wanted
        case _:
            message = detail["msg"].removeprefix("Value error, ")
            if message.startswith("Input should"):
                message = message.replace("Input", "it", 1)
            return message, wanted


def _shown(value: object, path: str) -> str:
    if _PRIVATE.search(path):
        return "a value that is not shown"
    if isinstance(value, Mapping):
        return f"a mapping of {', '.join(sorted(map(str, value)))[:_LONGEST_VALUE] or 'nothing'}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return f"a list of {len(value)}"
    text = json.dumps(value, ensure_ascii=True, default=str)
    return text if len(text) <= _LONGEST_VALUE else f"{text[: _LONGEST_VALUE - 3]}..."


def _plain(quoted: object) -> str:
    return str(quoted).replace("'", "")


@dataclass(frozen=True)
class _Place:
    path: str
    description: str
    siblings: tuple[str, ...]


def _find(model: type[BaseModel], location: tuple[int | str, ...]) -> _Place:
    """Walk the models along pydantic's location, which also names the union members it passed through."""
    path: list[str] = []
    here: Any = model
    description = ""
    siblings: tuple[str, ...] = ()
    for step in location:
        here, tagged = _member(here, step)
        if tagged:
            continue
        fields: Mapping[str, FieldInfo] = here.model_fields if _is_model(here) else {}
        siblings = tuple(fields)
        if step == "[key]":
            continue
        path.append(_key(step))
        field = fields.get(str(step))
        if field is not None:
            description, here = field.description or "", field.annotation
        else:
            here = _element(here)
    return _Place(".".join(path) or "experiment", description, siblings)


def _key(step: int | str) -> str:
    text = str(step) if str(step).isprintable() and step != "" else json.dumps(step)
    return text if len(text) <= _LONGEST_VALUE else f"{text[: _LONGEST_VALUE - 3]}..."


def _member(here: Any, step: int | str) -> tuple[Any, bool]:
    """Choose a union's member; true if the step is the discriminator's value and no key of the text."""
    here = _unwrap(here)
    if get_origin(here) not in (Union, types.UnionType):
        return here, False
    members = [_unwrap(member) for member in get_args(here) if member is not type(None)]
    if len(members) == 1:
        return _member(members[0], step)
    for member in members:
        if _is_model(member) and any(step in get_args(field.annotation) for field in member.model_fields.values()):
            return member, True
    return here, False


def _element(here: Any) -> Any:
    arguments = get_args(here)
    if get_origin(here) is dict:
        return arguments[1]
    return arguments[0] if get_origin(here) is tuple else None


def _unwrap(annotation: Any) -> Any:
    while get_origin(annotation) is Annotated:
        annotation = get_args(annotation)[0]
    return annotation


def _is_model(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)
