"""Every key of the settings, as a person may look it up."""

import difflib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args, get_origin

from annotated_types import Ge, Gt, Le, Lt, MaxLen, MinLen
from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from experiment import shape
from experiment.errors import SplitbedError

_UNITS: Mapping[str, str] = {
    "_s": "seconds", "_gib": "GiB", "_days": "days", "gib": "GiB", "bytes": "bytes", "usd": "US dollars",
    "cpu": "CPU cores", "_tokens": "tokens", "max_model_len": "tokens", "window": "tokens", "max_position": "tokens",
}  # fmt: skip


class UnknownKeyError(SplitbedError):
    """There is no key of that path."""


@dataclass(frozen=True, kw_only=True)
class Key:
    """One key.

    Attributes:
        path: dotted.
        when: `key: value` pairs that must hold for there to be such a key; none if there always is.
        description: what it means.
        type: what its value is, with its bounds.
        unit: of a number; empty if it has none.
        required: whether it must be given where it may be.
        default: what holds if it is not given, as YAML would have it; empty if it is required.
        children: paths of the keys below it.
    """

    path: str
    when: tuple[str, ...]
    description: str
    type: str
    unit: str
    required: bool
    default: str
    children: tuple[str, ...]


def keys(model: type[BaseModel]) -> tuple[Key, ...]:
    """Return every key of a model and of the models in it, each before those below it."""
    return tuple(_told_apart_once(_below(model, "", ())))


def find(known: tuple[Key, ...], path: str) -> tuple[Key, ...]:
    """Return the keys of a path, several where members of a union have it in common, and all that are below it.

    Raises:
        UnknownKeyError: with near names.
    """
    found = tuple(key for key in known if key.path == path or key.path.startswith(f"{path}."))
    if found:
        return found
    near = _near(path, list(dict.fromkeys(key.path for key in known)))
    remedy = f"Did you mean {' or '.join(near)}?" if near else "`splitbed explain` lists all keys."
    raise UnknownKeyError(f"There is no setting {path}.", remedy)


def _near(path: str, known: list[str]) -> list[str]:
    close = difflib.get_close_matches(path, known, n=3, cutoff=0.8)
    last = path.rpartition(".")[2]
    same_name = [other for other in known if other.rpartition(".")[2] == last]
    return list(dict.fromkeys(close + same_name))[:3] or difflib.get_close_matches(path, known, n=3)


def _below(annotation: Any, path: str, when: tuple[str, ...]) -> Iterator[Key]:
    for name, field in shape.fields(annotation).items():
        inner = f"{path}.{name}" if path else name
        variants = tuple(_variants(field.annotation, inner, when))
        children = [key for one, told in variants for key in _below(one, inner, told)]
        direct = tuple(dict.fromkeys(key.path for key in children if key.path.count(".") == inner.count(".") + 1))
        yield Key(
            path=inner,
            when=when,
            description=field.description or "",
            type=_type(field.annotation, field),
            unit=_unit(name),
            required=field.is_required(),
            default=_default(field),
            children=direct,
        )
        yield from children


def _told_apart_once(found: Iterator[Key]) -> list[Key]:
    """Make one key of those by whose value the members of a union are told apart."""
    merged: list[Key] = []
    for key in found:
        if key.when and key.when[-1].startswith(f"{key.path}: "):
            plain = replace(key, when=key.when[:-1])
            first = next((n for n, one in enumerate(merged) if (one.path, one.when) == (plain.path, plain.when)), None)
            if first is None:
                merged.append(plain)
            else:
                merged[first] = replace(merged[first], type=f"{merged[first].type} | {plain.type}")
        else:
            merged.append(key)
    return merged


def _variants(annotation: Any, path: str, when: tuple[str, ...]) -> Iterator[tuple[Any, tuple[str, ...]]]:
    """Yield the models that a value may be, each with what tells it from the others."""
    members = shape.members(annotation)
    for member in members:
        inner = shape.element(member) or member
        if inner is not member and len(shape.members(inner)) > 1:
            yield from _variants(inner, path, when)
        elif shape.is_model(shape.unwrapped(inner)):
            told = shape.tag(member) if len(members) > 1 else None
            yield inner, (*when, _condition(path, told)) if told else when


def _condition(path: str, told: tuple[str, str]) -> str:
    key, value = told
    return f"{path}.{key}: {value}" if key else f"{path} is {value}"


def _type(annotation: Any, field: FieldInfo | None = None) -> str:
    members = shape.members(annotation)
    names = list(dict.fromkeys(_plain_type(member) for member in members))
    text = " or ".join(names)
    if field is not None:
        text = " ".join([text, *_bounds(field)])
    return f"{text}, or null" if shape.is_optional(annotation) else text


def _plain_type(annotation: Any) -> str:
    plain = shape.unwrapped(annotation)
    if get_origin(plain) is Literal:
        return " | ".join(str(choice) for choice in get_args(plain))
    if get_origin(plain) is tuple:
        return f"list of {_type(get_args(plain)[0])}"
    if get_origin(plain) is dict:
        return f"mapping of names to {_type(get_args(plain)[1])}"
    if shape.is_model(plain):
        return "mapping"
    return {bool: "true | false", int: "whole number", float: "number", str: "text"}.get(plain, _named(plain))


def _named(plain: Any) -> str:
    name = getattr(plain, "__name__", str(plain))
    return {"JsonValue": "any value", "AwareDatetime": "moment"}.get(name, name)


def _bounds(field: FieldInfo) -> Iterator[str]:
    counted = get_origin(shape.unwrapped(field.annotation)) in (tuple, dict)
    for bound in field.metadata:
        match bound:
            case Ge(ge=least):
                yield f"from {least}"
            case Gt(gt=least):
                yield f"above {least}"
            case Le(le=most):
                yield f"to {most}"
            case Lt(lt=most):
                yield f"below {most}"
            case MinLen(min_length=least) if counted:
                yield f"of {least} or more"
            case MaxLen(max_length=most):
                yield f"of {most} at most" if counted else f"of {most} characters at most"
            case _:
                pass


def _unit(name: str) -> str:
    return next(
        (unit for end, unit in _UNITS.items() if name == end or (end.startswith("_") and name.endswith(end))), ""
    )


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return ""
    value = field.get_default(call_default_factory=True)
    if value is PydanticUndefined:
        return ""
    if isinstance(value, BaseModel):
        shown = value.model_dump(mode="json", exclude_defaults=True)
        return "its own defaults" if not shown else _flow(shown)
    return _flow(value)


def _flow(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_flow(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_flow, value)) + "]"
    return value if isinstance(value, str) and value else json.dumps(value)
