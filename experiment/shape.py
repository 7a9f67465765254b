"""The shape of settings: what a type is made of, and which member of a union a text means."""

import types
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, TypeGuard, Union, get_args, get_origin

from pydantic import BaseModel, Tag
from pydantic.fields import FieldInfo


def unwrapped(annotation: Any) -> Any:
    """Return a type without what is annotated to it."""
    while get_origin(annotation) is Annotated:
        annotation = get_args(annotation)[0]
    return annotation


def is_model(annotation: Any) -> TypeGuard[type[BaseModel]]:
    """Return whether a type is a mapping with known keys."""
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


def members(annotation: Any) -> tuple[Any, ...]:
    """Return the members of a union without None, annotations and all; a type that is no union is its only member."""
    plain = unwrapped(annotation)
    if get_origin(plain) not in (Union, types.UnionType):
        return (annotation,)
    found = tuple(member for member in get_args(plain) if member is not types.NoneType)
    return members(found[0]) if len(found) == 1 else found


def is_optional(annotation: Any) -> bool:
    """Return whether null is a value of the type."""
    plain = unwrapped(annotation)
    return get_origin(plain) in (Union, types.UnionType) and types.NoneType in get_args(plain)


def tag(member: Any) -> tuple[str, str] | None:
    """Return key and value that tell a member of a union from the others: `("kind", "split")`.

    The key is empty where the members are told apart by something else than the value of one key.
    """
    if get_origin(member) is Annotated:
        for extra in get_args(member)[1:]:
            if isinstance(extra, Tag):
                return "", extra.tag
    plain = unwrapped(member)
    for key, values in tags(plain):
        if len(values) == 1:
            return key, str(values[0])
    return None


def tags(plain: Any) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """Yield the keys of a model that take numbered values only, with those values."""
    for key, field in fields(plain).items():
        if get_origin(unwrapped(field.annotation)) is Literal:
            yield key, get_args(unwrapped(field.annotation))


def member(annotation: Any, step: str | int) -> Any | None:
    """Return the member of a union that a step of pydantic's location names, none if it names none."""
    several = members(annotation)
    if len(several) == 1:
        return None
    for one in several:
        told = tag(one)
        if told is not None and told[1] == step:
            return one
    return None


def fields(annotation: Any) -> Mapping[str, FieldInfo]:
    """Return the keys of a mapping with known keys, none of anything else."""
    plain = unwrapped(annotation)
    return plain.model_fields if is_model(plain) else {}


def element(annotation: Any) -> Any:
    """Return the type of a list's entries or of a mapping's values, none of anything else."""
    plain = unwrapped(annotation)
    arguments = get_args(plain)
    if get_origin(plain) is dict:
        return arguments[1]
    return arguments[0] if get_origin(plain) is tuple else None
