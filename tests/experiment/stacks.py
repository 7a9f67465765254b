"""Settings of the tracked stacks, as they are or varied."""

import copy
import json
from datetime import UTC, datetime
from functools import cache
from typing import Any

from experiment.problem import Problem
from experiment.settings import Settings, SettingsError, load
from tests.recording import stack_settings

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


def text_of(stack: str, **changes: Any) -> str:
    """Return a stack's settings as JSON; `engine__threads="free"` changes the value at engine.threads."""
    settings = copy.deepcopy(_read(stack))
    for path, value in changes.items():
        *above, last = path.split("__")
        place = settings
        for key in above:
            place = place.setdefault(key, {})
        if value is None:
            place.pop(last, None)
        else:
            place[last] = value
    return json.dumps(settings)


@cache
def _read(stack: str) -> dict[str, Any]:
    return stack_settings(stack)


def settings_of(stack: str, **changes: Any) -> Settings:
    """Return a stack's settings; None takes a key away."""
    return load(text_of(stack, **changes), NOW)


def refused(stack: str, **changes: Any) -> list[Problem]:
    """Return what is wrong with a stack's settings so changed, nothing if all is right."""
    try:
        settings_of(stack, **changes)
    except SettingsError as error:
        return list(error.problems)
    return []
