"""Settings that are right one by one and wrong together.

Each rule is a function whose parameters are named as the settings' keys it looks at, so that it can speak as soon as
those can be read, whatever is wrong elsewhere in the file.
"""

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from experiment.combinations import engines, instances, measuring, networks, places, sizes
from experiment.problem import Problem

Rule = Callable[..., list[Problem]]

RULES: tuple[Rule, ...] = (
    *places.RULES,
    *instances.RULES,
    *networks.RULES,
    *sizes.RULES,
    *engines.RULES,
    *measuring.RULES,
)


def check(parts: Mapping[str, Any]) -> list[Problem]:
    """Return what does not go together.

    Args:
        parts: those settings that could be read, by their key.
    """
    return [problem for rule in RULES if _needed(rule) <= parts.keys() for problem in rule(**_given(rule, parts))]


def _needed(rule: Rule) -> frozenset[str]:
    return frozenset(inspect.signature(rule).parameters)


def _given(rule: Rule, parts: Mapping[str, Any]) -> dict[str, Any]:
    return {name: parts[name] for name in _needed(rule)}
