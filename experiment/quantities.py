"""Amounts with a unit, as people and Kubernetes write them, where a setting has its unit in its name."""

import re
from collections.abc import Mapping

_AMOUNT = re.compile(r"\s*\$?(?P<number>\d+(?:\.\d+)?)\s*(?P<unit>[A-Za-z]*)\s*")
_GIB: Mapping[str, float] = {
    **dict.fromkeys(("ti", "tib"), 1024),
    **dict.fromkeys(("gi", "gib"), 1),
    **dict.fromkeys(("mi", "mib"), 1 / 1024),
    **dict.fromkeys(("t", "tb"), 1e12 / 2**30),
    **dict.fromkeys(("g", "gb"), 1e9 / 2**30),
    **dict.fromkeys(("m", "mb"), 1e6 / 2**30),
}
_SECONDS: Mapping[str, float] = {
    **dict.fromkeys(("s", "sec", "second", "seconds"), 1),
    **dict.fromkeys(("m", "min", "minute", "minutes"), 60),
    **dict.fromkeys(("h", "hour", "hours"), 3600),
}
_UNITS: Mapping[str, Mapping[str, float]] = {
    "gib": _GIB,
    "s": _SECONDS,
    "cpu": {"m": 1 / 1000, **dict.fromkeys(("core", "cores", "cpu", "cpus"), 1)},
    "usd": {"usd": 1},
}
"""By the last word of a setting's name: how many of its own unit one of each other is."""


def plain(text: str, setting: str) -> float | None:
    """Return the number to write for an amount with a unit, or in quotes; None if it is no such amount.

    Args:
        text: as in `26Gi`, `300m`, `5 min` or `$100`.
        setting: its name, whose end tells its unit: `memory_gib`, `cpu`, `startup_s`, `usd`.
    """
    found = _AMOUNT.fullmatch(text)
    if found is None:
        return None
    units = {"": 1.0, **_UNITS.get(setting.rpartition("_")[2], {})}
    each = units.get(found["unit"].lower())
    return None if each is None else float(found["number"]) * each
