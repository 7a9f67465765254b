"""What a person should think over before anything is made; a mistake stops `up` unless the stack file accepts it."""

from collections.abc import Iterable, Mapping

from experiment.plan.part import Part
from experiment.warning import Warning as Warned


class Advice(Part):
    """One piece of advice.

    Attributes:
        name: by which `accept` names it.
        text: sentences for a person.
        numbers: the same numbers for a program.
        mistake: whether it stops `up` unless it is accepted.
        accepted: whether the stack file names it.
    """

    name: str
    text: str
    numbers: Mapping[str, float | int | str]
    mistake: bool
    accepted: bool

    @property
    def stops(self) -> bool:
        """Whether `up` is not to go on."""
        return self.mistake and not self.accepted


def judged(warnings: Iterable[Warned], accept: Iterable[str]) -> tuple[Advice, ...]:
    """Return warnings as advice: what stops first, then other mistakes, then the rest, each in the given order."""
    accepted = set(accept)
    found = [
        Advice(
            name=warning.name,
            text=warning.text,
            numbers=dict(warning.numbers),
            mistake=warning.mistake,
            accepted=warning.name in accepted,
        )
        for warning in warnings
    ]
    return tuple(sorted(found, key=lambda one: (not one.stops, not one.mistake)))
