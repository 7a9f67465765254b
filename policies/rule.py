"""A rule: its name, what it asks for, and the function that finds what breaks it."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from policies.seen import Seen


@dataclass(frozen=True)
class Rule:
    """One rule; `complaints` yields a sentence for each thing that is wrong, nothing for a resource that is right."""

    name: str
    description: str
    complaints: Callable[[Seen], Iterable[str]]
