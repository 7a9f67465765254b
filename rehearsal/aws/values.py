"""Property values between the engine's messages and plain Python.

Secrets are opened on the way in: the engine keeps account of what is secret by itself, and no double needs to know.
"""

from collections.abc import Mapping
from typing import Any

from google.protobuf import json_format, struct_pb2

UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
"""How the engine spells a value that a preview does not know yet."""

_SIGNATURE = "4dabf18193072939515e22adb298388d"
_SECRET = "1b47061264138c4ac30d75fd1eb44270"  # noqa: S105  a mark, not a secret
_OUTPUT = "d0e6a833031e9bbcd3f4e8bde6ca49a4"
_REFERENCE = "5cf8f73096256a8f31e491e813e4eb8e"


def plain(struct: struct_pb2.Struct) -> dict[str, Any]:
    """Return a message's properties; what is not known is `UNKNOWN`, a resource its id or URN."""
    found: dict[str, Any] = _plain(json_format.MessageToDict(struct))
    return found


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        match value.get(_SIGNATURE):
            case signature if signature in (_SECRET, _OUTPUT):
                return _plain(value["value"]) if "value" in value else UNKNOWN
            case signature if signature == _REFERENCE:
                return value.get("id") or value["urn"]
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def message(values: Mapping[str, Any]) -> struct_pb2.Struct:
    """Return properties as the engine takes them; what is None is left out."""
    struct = struct_pb2.Struct()
    struct.update(_without_none(values))
    return struct


def _without_none(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _without_none(inner) for key, inner in value.items() if inner is not None}
    if isinstance(value, list | tuple):
        return [_without_none(inner) for inner in value]
    return value


def known(value: Any) -> bool:
    """Tell whether nothing in a value is unknown."""
    if isinstance(value, Mapping):
        return all(known(inner) for inner in value.values())
    if isinstance(value, list | tuple):
        return all(known(inner) for inner in value)
    return bool(value != UNKNOWN)
