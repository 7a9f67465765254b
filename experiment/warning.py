"""What is allowed and probably not meant."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated

from pydantic import StringConstraints

WarningName = Annotated[str, StringConstraints(pattern=r"^[a-z]+(-[a-z0-9]+)*$", max_length=60)]


@dataclass(frozen=True)
class Warning:  # noqa: A001  the field's word; Python's class of this name is not used here
    """Something that a person should know before anything is made.

    Attributes:
        name: by which a stack file accepts it, lower-case with hyphens.
        text: one or two sentences for a person, numbers included.
        numbers: the same numbers for a program, by name with unit.
        mistake: whether it stops `up` unless `accept` names it.
    """

    name: str
    text: str
    numbers: Mapping[str, float | int | str] = field(default_factory=dict)
    mistake: bool = False

    def __str__(self) -> str:
        return f"{self.name}: {self.text}"
