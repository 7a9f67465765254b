"""Settings of a stack file that differ, by their dotted paths."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

NOTHING = "-"


@dataclass(frozen=True)
class Changed:
    """One setting, with both values as text."""

    path: str
    before: str
    after: str


def changed(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[Changed, ...]:
    """Return every setting that differs; mappings are entered, lists are compared whole."""
    return tuple(_changed(before, after, ""))


def _changed(before: Mapping[str, Any], after: Mapping[str, Any], above: str) -> Iterator[Changed]:
    for key in dict.fromkeys([*before, *after]):
        old, new = before.get(key), after.get(key)
        if old == new:
            continue
        path = f"{above}{key}"
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            yield from _changed(old, new, f"{path}.")
        else:
            yield Changed(path, _text(old), _text(new))


def _text(value: Any) -> str:
    if value is None:
        return NOTHING
    return value if isinstance(value, str) else json.dumps(value, default=str)
