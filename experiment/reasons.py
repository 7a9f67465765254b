"""Why a value does not fit, in the words of the person who wrote it: none of pydantic's own are passed on."""

import difflib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, get_args

from pydantic_core import ErrorDetails, core_schema

_Context = Mapping[str, Any]

_PYDANTICS = frozenset(get_args(core_schema.ErrorType))

_WORDS: Mapping[str, str | Callable[[_Context], str]] = {
    "missing": "it is missing",
    "extra_forbidden": "there is no such key",
    "string_type": "it is not text",
    "string_unicode": "it has characters that no text has",
    "string_pattern_mismatch": "it has characters that cannot stand there, or is empty",
    "string_too_short": "it is empty",
    "string_too_long": lambda context: f"it is longer than {context['max_length']} characters",
    "int_type": "it is not a whole number",
    "int_from_float": "it is not a whole number",
    "int_parsing": "it is not a whole number",
    "int_parsing_size": "it has too many digits",
    "float_type": "it is not a number",
    "float_parsing": "it is not a number",
    "finite_number": "it is no number that has an end",
    "greater_than": lambda context: f"it must be more than {context['gt']:g}",
    "greater_than_equal": lambda context: f"it must be {context['ge']:g} or more",
    "less_than": lambda context: f"it must be less than {context['lt']}",
    "less_than_equal": lambda context: f"it must be {context['le']:g} or less",
    "bool_type": "it is neither true nor false",
    "bool_parsing": "it is neither true nor false",
    "literal_error": "it is none of its choices",
    "model_type": "it is not a mapping of keys to values",
    "model_attributes_type": "it is not a mapping of keys to values",
    "dict_type": "it is not a mapping of keys to values",
    "tuple_type": "it is not a list",
    "too_short": lambda context: f"it needs {_entries(context['min_length'])} or more",
    "too_long": lambda context: f"it has more than {_entries(context['max_length'])}",
    "json_invalid": lambda context: f"it cannot be read ({context['error']})",
    "recursion_loop": "it cannot be read (nested too deep)",
    "recursion_depth_exceeded": "it cannot be read (nested too deep)",
}


def reason(detail: ErrorDetails) -> str:
    """Return why pydantic, or a validator of ours, refused a value."""
    kind = detail["type"]
    if kind not in _PYDANTICS:
        return detail["msg"]
    words = _WORDS.get(kind, "it does not fit here")
    return words if isinstance(words, str) else words(detail.get("ctx") or {})


def choose(found: object, choices: Sequence[str]) -> str:
    """Return the remedy where a value is none of its choices; what was probably meant comes first."""
    if len(choices) == 1:
        return f"Write {choices[0]}, the only one known."
    near = difflib.get_close_matches(found, choices, n=1) if isinstance(found, str) else []
    one_of = f"Choose one of {', '.join(choices)}."
    return f"Did you mean {near[0]}? {one_of}" if near else one_of


def _entries(count: int) -> str:
    return "one entry" if count == 1 else f"{count} entries"
