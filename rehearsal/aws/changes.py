"""Which inputs of a resource changed."""

from collections.abc import Mapping
from typing import Any

from rehearsal.aws.values import UNKNOWN


def changed_keys(olds: Mapping[str, Any], news: Mapping[str, Any]) -> set[str]:
    """Return the inputs whose values differ; one that is not known yet differs from all."""
    return {
        key for key in {*olds, *news} if olds.get(key) != news.get(key) or UNKNOWN in (olds.get(key), news.get(key))
    }


def at(values: Mapping[str, Any], path: str) -> Any:
    """Return the value at a dotted path; None if there is none."""
    found: Any = values
    for key in path.split("."):
        found = found.get(key) if isinstance(found, Mapping) else None
    return found


def within(given: Any, seen: Any) -> Any:
    """Return what is seen of an input, without the parts that nobody has set."""
    if isinstance(given, Mapping) and isinstance(seen, Mapping):
        return {key: within(given[key], seen[key]) for key in given if key in seen}
    return seen
