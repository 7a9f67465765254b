"""One thing that was looked at before `up`."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from experiment.errors import SplitbedError


@dataclass(frozen=True)
class Check:
    """What was looked at, whether it will do, what was found, and the remedy if it will not do."""

    name: str
    ok: bool
    said: str
    remedy: str = ""


def checked(name: str, look: Callable[[], Iterable[Check]]) -> Iterator[Check]:
    """Return the checks of one part; what stops it is a check that was refused, and the other parts go on."""
    try:
        yield from look()
    except SplitbedError as error:
        yield Check(name, ok=False, said=error.message, remedy=error.remedy)
