"""What of an answer may differ between two engines of the same kind: ids, times, text."""

import json
import re
from typing import Any

_HIDDEN = {"id": "<id>", "created": "<time>", "root": "<path>", "request_id": "<id>"}
_TEXTS = frozenset({"text", "content", "prompt_text", "prompt"})
_ID_LISTS = frozenset({"tokens", "token_ids", "prompt_token_ids", "token_strs"})
_FINGERPRINT = re.compile(r"-[0-9a-f]{8}$")


def masked_headers(headers: list[tuple[str, str]], *, sized: bool) -> list[str]:
    """Return the header lines in their order; `sized` keeps the length, which follows the text elsewhere."""
    hidden = {"date", *(() if sized else ("content-length",))}
    return [f"{name}: <{name}>" if name in hidden else f"{name}: {value}" for name, value in headers]


def masked_json(value: Any, key: str = "") -> Any:
    """Return a JSON value with what may differ replaced; keys keep their order."""
    if isinstance(value, dict):
        return {name: masked_json(item, name) for name, item in value.items()}
    if key in _ID_LISTS and isinstance(value, list):
        return f"<{len(value)} tokens>"
    if isinstance(value, list):
        return [masked_json(item, key) for item in value]
    if key == "id" and isinstance(value, str):
        prefix, dash, _ = value.partition("-")
        return f"{prefix}{dash}<id>" if dash else value
    if key in _HIDDEN and value is not None:
        return _HIDDEN[key]
    if key in _TEXTS and isinstance(value, str):
        return "<text>" if value else ""
    if key == "stop_reason" and value is not None:
        return f"<{type(value).__name__}>"
    if key == "system_fingerprint" and isinstance(value, str):
        return _FINGERPRINT.sub("-<hash>", value)
    return value


def masked_body(body: bytes) -> str:
    """Return a body, masked if it is JSON."""
    try:
        value = json.loads(body)
    except ValueError:
        return body.decode(errors="replace")
    shown = json.dumps(masked_json(value), ensure_ascii=False, separators=(",", ":"))
    # Where the bytes are not compact JSON in the engine's order, that is a difference of its own.
    plain = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    return shown if plain == body else f"(not compact) {shown}"


def masked_chunk(chunk: bytes) -> list[str]:
    """Return the events of one chunk of a stream, masked."""
    events = []
    for block in chunk.decode(errors="replace").split("\n\n"):
        if not block:
            continue
        name, colon, data = block.partition(": ")
        events.append(f"{name}{colon}{masked_body(data.encode())}" if data.startswith("{") else block)
    return events
