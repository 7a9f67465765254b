"""The error answers of vLLM's API server."""

import json
import re
from collections.abc import Sequence
from http import HTTPStatus
from typing import Any

from pydantic import ValidationError


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
                "message": self.message,
                "type": self.kind,
                "param": self.param,
                "code": self.status.value,
            }
        }


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
        "loc": f"body.{error.pos}",
        "msg": "JSON decode error",
        "input": "<dict of 0 items>",
        "ctx": {"error": error.msg},
    }
    return _validation([found], f"body.{error.pos}")


def unreadable_body() -> ApiError:
    """Return the error for a body that cannot be read at all: not UTF-8, too deep, or with an endless number."""
    return ApiError("There was an error parsing the body", kind=HTTPStatus.BAD_REQUEST.phrase)


def unexpected(error: Exception) -> ApiError:
    """Return the error for what nobody has thought of, as vLLM's own safety net tells it."""
    if isinstance(error, ValueError | TypeError | OverflowError):
        return ApiError(str(error))
    return ApiError(str(error), kind="InternalServerError", status=HTTPStatus.INTERNAL_SERVER_ERROR)


def missing(fields: Sequence[str], value: object) -> ApiError:
    """Return the error for a body, or a part of it (`value`), that lacks fields; each is a dotted path."""
    shown = _summary(value)
    entries = [{"type": "missing", "loc": field, "msg": "Field required", "input": shown} for field in fields]
    return _validation(entries, fields[0])


def no_body() -> ApiError:
    """Return the error for an empty body."""
    return missing(["body"], None)


def no_object(value: object) -> ApiError:
    """Return the error for a body that is JSON but no object."""
    message = "Input should be a valid dictionary or object to extract fields from"
    entry = {"type": "model_attributes_type", "loc": "body", "msg": message, "input": _summary(value)}
    return _validation([entry], "body")


def wrong_media_type() -> ApiError:
    """Return the error for a body that is not announced as JSON."""
    return _validation(["Unsupported Media Type: Only 'application/json' is allowed"], None)


def invalid(error: ValidationError, order: Sequence[str]) -> ApiError:
    """Return the error for a body whose fields have the wrong types, the fields in the given order."""
    shown: list[object] = []
    param = None
    entries = error.errors(include_url=False, include_context=True)
    for entry in sorted(entries, key=lambda entry: order.index(str(entry["loc"][0])) if entry["loc"] else -1):
        loc = _location(("body", *entry["loc"]))
        param = param or loc
        shown.append({**entry, "loc": loc, "input": _summary(entry.get("input"))})
    return _validation(shown, param)


def _location(loc: Sequence[int | str]) -> str:
    """Return the dotted field, without pydantic's own markers of union branches."""
    internal = {"str", "int", "float", "bool", "list", "dict", "none"}
    parts = [str(part) for part in loc if not re.search(r"[\[\]{}()]", str(part)) and part not in internal]
    return ".".join(parts)


def _summary(value: object) -> object:
    if isinstance(value, list | tuple | dict):
        return f"<{type(value).__name__} of {len(value)} items>"
    text = str(value)
    return text[:200] + "...[truncated]" if len(text) > 200 else (value if isinstance(value, str) else text)


def _validation(errors: Sequence[object], param: str | None) -> ApiError:
    label = "error" if len(errors) == 1 else "errors"
    lines = [f"{len(errors)} validation {label}:", *(f"  {error}" for error in errors[:10])]
    if len(errors) > 10:
        lines.append(f"  ...and {len(errors) - 10} more errors")
    return ApiError("\n".join(lines), kind=HTTPStatus.BAD_REQUEST.phrase, param=param)
