"""What a recording holds, as rules see it."""

from policies.rules import RULES
from policies.seen import Seen
from tests.recording import Recording


def resources(recording: Recording) -> dict[str, Seen]:
    return {
        resource.label: Seen(type=resource.type, props=resource.inputs, protected=resource.protect)
        for resource in recording.resources
    }


def complaints(seen: Seen) -> dict[str, list[str]]:
    """Every rule that a resource breaks, with what is said."""
    said = {rule.name: list(rule.complaints(seen)) for rule in RULES}
    return {name: sentences for name, sentences in said.items() if sentences}
