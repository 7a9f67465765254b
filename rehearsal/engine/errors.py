"""The error answers of vLLM's API server."""

import json
import re
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from pydantic import ValidationError

UNREADABLE = "There was an error parsing the body"
"""The detail of the answer to a body that cannot be read: not UTF-8, too deep, with an endless number, or cut off."""


class ApiError(Exception):
    """A request that is answered with an error body."""

    def __init__(
        self,
        message: str,
        *,
        kind: str = "BadRequestError",
        status: HTTPStatus = HTTPStatus.BAD_REQUEST,
        param: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.kind = kind
        self.status = status
        self.param = param

    def body(self) -> dict[str, Any]:
        """Return the answer's body."""
        return {
            "error": {
                "message": _sanitized(self.message),
                "type": self.kind,
                "param": self.param,
                "code": self.status.value,
            }
        }


def _sanitized(message: str) -> str:
    """Return a message without addresses in memory, places in source, and paths of files, as vLLM takes them out."""
    message = re.sub(r" at 0x[0-9a-fA-F]+>", ">", message)
    message = re.sub(r'\n?\s*File "[^"]+", line \d+, in \S+(\n\s+.*)?', "", message)
    message = re.sub(r"/(?:home|usr|opt|var|tmp|root|lib|mnt|srv)(?:/[\w.\-]+)+", "<path>", message)
    return re.sub(r"(?:/[\w\-]+)+/[\w\-]+\.\w+", "<path>", message).strip()


def refused(message: str, *, parameter: str | None = None, value: object = None) -> ApiError:
    """Return vLLM's validation error, which names parameter and value at the end of its message."""
    notes = []
    if parameter is not None:
        notes.append(f"parameter={parameter}")
    if value is not None:
        notes.append(f"value={value}")
    return ApiError(f"{message} ({', '.join(notes)})" if notes else message, param=parameter)


def unknown_model(name: str) -> ApiError:
    """Return the error for a model that is not served."""
    return ApiError(
        f"The model `{name}` does not exist.",
        kind="NotFoundError",
        status=HTTPStatus.NOT_FOUND,
        param="model",
    )


def dead_engine() -> ApiError:
    """Return the error of a request that the engine's death has ended."""
    return ApiError(
        "EngineCore encountered an issue. See stack trace (above) for the root cause.",
        kind="InternalServerError",
        status=HTTPStatus.INTERNAL_SERVER_ERROR,
    )


def malformed_json(error: json.JSONDecodeError) -> ApiError:
    """Return the error for a body that is not JSON."""
    found = {
        "type": "json_invalid",
        "loc": ("body", error.pos),
        "msg": "JSON decode error",
        "input": {},
        "ctx": {"error": error.msg},
    }
    return _validation([found])


def failed_request() -> ApiError:
    """Return the error of a request that the engine could not even be told of."""
    return ApiError("", kind="InternalServerError", status=HTTPStatus.INTERNAL_SERVER_ERROR)


def unexpected(error: Exception) -> ApiError:
    """Return the error for what nobody has thought of, as vLLM's own safety net tells it."""
    if isinstance(error, ValueError | TypeError | OverflowError):
        return ApiError(str(error))
    return ApiError(str(error), kind="InternalServerError", status=HTTPStatus.INTERNAL_SERVER_ERROR)


def no_body() -> ApiError:
    """Return the error for an empty body."""
    return _validation([{"type": "missing", "loc": ("body",), "msg": "Field required", "input": None}])


def wrong_media_type() -> ApiError:
    """Return the error for a body that is not announced as JSON."""
    return _validation(["Unsupported Media Type: Only 'application/json' is allowed"])


def invalid(error: ValidationError) -> ApiError:
    """Return the error for a body whose fields have the wrong types."""
    entries = error.errors(include_url=False, include_context=True)
    return _validation([{**entry, "loc": ("body", *entry["loc"])} for entry in entries])


_MARKERS = frozenset(
    {
        "function-wrap", "function-after", "function-before", "function-plain", "json-or-python", "lax-or-strict",
        "chain", "default", "nullable", "tagged-union", "union", "call", "arguments", "is-instance", "is-subclass",
        "callable", "str", "int", "float", "bool", "bytes", "bytearray", "list", "tuple", "dict", "set", "frozenset",
        "complex", "none", "nonetype",
    }
)  # fmt: skip
"""What pydantic puts into a place besides fields and numbers, as vLLM knows it."""

_MOST_SHOWN, _MOST_OF_INPUT, _MOST_OF_ENTRY = 10, 200, 1000


def _validation(entries: Sequence[Mapping[str, Any] | str]) -> ApiError:
    """Return vLLM's answer to what pydantic found: ten entries, each cut to a length, the first one's place as `param`.

    An entry is pydantic's, with the body before its place, or a sentence.
    """
    label = "error" if len(entries) == 1 else "errors"
    lines = [f"{len(entries)} validation {label}:", *(f"  {_shown(entry)}" for entry in entries[:_MOST_SHOWN])]
    if len(entries) > _MOST_SHOWN:
        lines.append(f"  ...and {len(entries) - _MOST_SHOWN} more {label}")
    first = entries[0]
    param = None if isinstance(first, str) else _place(first["loc"])
    return ApiError("\n".join(lines), kind=HTTPStatus.BAD_REQUEST.phrase, param=param)


def _shown(entry: Mapping[str, Any] | str) -> str:
    text = entry
    if not isinstance(entry, str):
        text = str({**entry, "loc": _place(entry["loc"]), "input": _summary(entry["input"])})
    return _cut(str(text), _MOST_OF_ENTRY)


def _place(loc: Sequence[int | str]) -> str:
    """Return the dotted field, without pydantic's own markers of wrappers and branches of unions."""
    parts = [str(part) for part in loc]
    return ".".join(part for part in parts if not re.search(r"[\[\]{}()]", part) and part.lower() not in _MARKERS)


def _summary(value: object) -> object:
    if isinstance(value, list | tuple | dict):
        return f"<{type(value).__name__} of {len(value)} items>"
    return _cut(str(value), _MOST_OF_INPUT)


def _cut(text: str, length: int) -> str:
    return text[:length] + "...[truncated]" if len(text) > length else text
