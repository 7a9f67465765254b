"""A request held against botocore's model of it: what AWS would refuse, as far as its models say."""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import botocore.session
import regex  # type: ignore[import-untyped]  # the models' patterns have Unicode classes, which `re` has not
from botocore.model import ListShape, MapShape, OperationModel, Shape, StructureShape

_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "long": (int,),
    "boolean": (bool,),
    "double": (float, int),
    "float": (float, int),
}


@cache
def operation(service: str, name: str) -> OperationModel:
    """Return the model of an operation by its name, such as `CreateVpc`."""
    return botocore.session.get_session().get_service_model(service).operation_model(name)


def complaints(service: str, name: str, params: Mapping[str, Any]) -> list[str]:
    """Return what is wrong with a request; nothing if its model has nothing against it."""
    shape = operation(service, name).input_shape
    assert isinstance(shape, StructureShape)  # noqa: S101
    return list(_structure(shape, params, f"{service}.{name}"))


def _check(shape: Shape, value: Any, path: str) -> Iterator[str]:
    if isinstance(shape, StructureShape):
        yield from _structure(shape, value, path)
    elif isinstance(shape, ListShape):
        if not isinstance(value, list):
            yield f"{path}: no list"
            return
        yield from _length(shape, len(value), path)
        for index, inner in enumerate(value):
            yield from _check(shape.member, inner, f"{path}[{index}]")
    elif isinstance(shape, MapShape):
        if not isinstance(value, Mapping):
            yield f"{path}: no map"
            return
        yield from _length(shape, len(value), path)
        for key, inner in value.items():
            yield from _check(shape.key, key, f"{path} key {key}")
            yield from _check(shape.value, inner, f"{path}.{key}")
    else:
        yield from _scalar(shape, value, path)


def _structure(shape: StructureShape, value: Any, path: str) -> Iterator[str]:
    if not isinstance(value, Mapping):
        yield f"{path}: no structure"
        return
    for name in shape.required_members:
        if name not in value:
            yield f"{path}.{name}: missing"
    for name, inner in value.items():
        if name not in shape.members:
            yield f"{path}.{name}: unknown"
        else:
            yield from _check(shape.members[name], inner, f"{path}.{name}")


def _scalar(shape: Shape, value: Any, path: str) -> Iterator[str]:
    wanted = _TYPES.get(shape.type_name)
    if wanted is None:
        raise NotImplementedError(f"{path}: {shape.type_name} is not written down here")
    if not isinstance(value, wanted) or (isinstance(value, bool) and bool not in wanted):
        yield f"{path}: {value!r} is no {shape.type_name}"
        return
    if isinstance(value, str):
        yield from _length(shape, len(value), path)
        allowed = getattr(shape, "enum", None)
        if allowed and value not in allowed:
            yield f"{path}: {value!r} is none of {allowed}"
        pattern = shape.metadata.get("pattern")
        if pattern and not regex.fullmatch(_pattern(pattern), value):
            yield f"{path}: {value!r} is not as {pattern}"
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield from _length(shape, value, path)


def _pattern(javas: str) -> str:
    """Return a model's pattern in Python's words: Java spells what lies beyond 16 bits by pairs of surrogates."""
    return javas.removeprefix("^").removesuffix("$").replace(r"\uD800\uDC00-\uDBFF\uDFFF", "\U00010000-\U0010ffff")


def _length(shape: Shape, size: float, path: str) -> Iterator[str]:
    least, most = shape.metadata.get("min"), shape.metadata.get("max")
    if least is not None and size < least:
        yield f"{path}: {size} is less than {least}"
    if most is not None and size > most:
        yield f"{path}: {size} is more than {most}"
