"""Plain scalars of a YAML text, as Go's yaml.v3 takes them, which is what Pulumi reads a stack file with.

PyYAML keeps to YAML 1.1: `yes` would be a truth value, `1e3` a text and `1:30` ninety, where Pulumi sees a text, a
thousand and a text. A setting must be the same for a command and for the program.
"""

import math
import re
from typing import Literal

Kind = Literal["null", "bool", "int", "float", "merge", "str"]
Value = None | bool | int | float | str

_WORDS: dict[str, tuple[Kind, Value]] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), ("null", None)),
    **dict.fromkeys(("true", "True", "TRUE"), ("bool", True)),
    **dict.fromkeys(("false", "False", "FALSE"), ("bool", False)),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), ("float", math.nan)),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), ("float", math.inf)),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), ("float", -math.inf)),
    "<<": ("merge", "<<"),
}
# `strconv.ParseInt` with base 0, and yaml.v3's own `0o` and `0b`: a leading 0 alone is octal.
_INTEGER = re.compile(
    r"(?P<sign>[-+]?)(?:0[xX](?P<hex>[0-9a-fA-F]+)|0[bB](?P<binary>[01]+)|0[oO]?(?P<octal>[0-7]+)"
    r"|(?P<decimal>0|[1-9][0-9]*))",
    re.ASCII,
)
_BASES = {"hex": 16, "binary": 2, "octal": 8, "decimal": 10}
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", re.ASCII)
_LEAST, _MOST = -(2**63), 2**63 - 1  # Pulumi rounds what is beyond
_WHOLE_IN_JSON = 1e21  # Go's JSON writes a whole float without a point up to here, so a program sees an integer


def resolved(text: str) -> tuple[Kind, Value]:
    """Return the kind and the value of a scalar without quotes and without a tag; a date stays text.

    Raises:
        ValueError: it is a number beyond what Pulumi hands over exactly.
    """
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in "0123456789+-.":
        return "str", text
    digits = text.replace("_", "")
    found = _INTEGER.fullmatch(digits)
    if found is not None:
        base = found.lastgroup or "decimal"
        number = int(found["sign"] + found[base], _BASES[base])
        if not _LEAST <= number <= _MOST:
            raise ValueError(f"{text[:20]} has too many digits for a whole number")
        return "int", number
    if _FLOAT.fullmatch(digits):
        return "float", _number(digits)
    return "str", text


def _number(digits: str) -> int | float:
    value = float(digits)
    if math.isinf(value):
        raise ValueError(f"{digits[:20]} is too large for a number")
    return int(value) if value.is_integer() and abs(value) < _WHOLE_IN_JSON else value
