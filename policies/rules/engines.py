"""What is measured is what was asked for."""

from collections.abc import Iterator, Mapping

from policies.inside import containers
from policies.rule import Rule
from policies.seen import UNKNOWN, Seen

_ASKED = ("cpu", "memory")


def _complaints(seen: Seen) -> Iterator[str]:
    if not seen.type.endswith(":LeaderWorkerSet"):
        return
    for container in containers(seen.props):
        resources = container.get("resources")
        if resources is UNKNOWN:
            continue
        given = resources if isinstance(resources, Mapping) else {}
        requests, limits = given.get("requests") or {}, given.get("limits") or {}
        if requests is UNKNOWN or limits is UNKNOWN:
            continue
        name = container.get("name", "without a name")
        absent = [kind for kind in _ASKED if kind not in requests]
        if absent:
            yield f"Container {name} asks for no {' and no '.join(absent)}. Set engine.resources."
        if requests != limits:
            yield (
                f"Container {name} asks for {_said(requests)} and may use {_said(limits)}: what it then gets depends "
                "on its neighbours. Set both from engine.resources."
            )


def _said(quantities: Mapping[str, object]) -> str:
    return ", ".join(f"{kind} {amount}" for kind, amount in sorted(quantities.items())) or "anything"


ENGINES_GET_WHAT_THEY_ASK_FOR = Rule(
    "engines-get-what-they-ask-for",
    "Every container of an engine's pod has requests for CPU and memory, and limits that equal them.",
    _complaints,
)
