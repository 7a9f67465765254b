"""What the engine would do, read from the events of a preview."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

Operation = Literal["create", "update", "replace", "delete"]

_OPERATIONS: dict[str, Operation] = {
    "create": "create",
    "update": "update",
    "replace": "replace",
    "delete": "delete",
}
"""The engine's own words; what a replacement is made of, `create-replacement` and `delete-replaced`, is told by it."""

_OWN_DOING = ("pulumi:providers:", "pulumi:pulumi:")
_TAGS = frozenset({"tags", "tagsAll", "tag"})


@dataclass(frozen=True)
class Step:
    """One resource that a change makes, changes, replaces or deletes.

    Attributes:
        operation: what happens to it.
        type: its Pulumi type.
        name: its name in the program.
        changed: its inputs that differ, by their first key.
        reasons: those of them for which it is replaced.
        old: its inputs as they are; none of one that is made.
        new: its inputs as they will be; none of one that is deleted.
        retained: it stays where it is though the stack forgets it.
    """

    operation: Operation
    type: str
    name: str
    changed: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    old: Mapping[str, Any] = field(default_factory=dict)
    new: Mapping[str, Any] = field(default_factory=dict)
    retained: bool = False

    @property
    def kind(self) -> str:
        """The last part of its type, such as `NodeGroup`."""
        return self.type.rpartition(":")[2]

    @property
    def in_kubernetes(self) -> bool:
        """Whether it is an object in the cluster, and no resource of AWS."""
        return self.type.startswith("kubernetes:")

    @property
    def only_tags(self) -> bool:
        """Whether nothing but tags changes."""
        return self.operation == "update" and bool(self.changed) and set(self.changed) <= _TAGS


def steps(events: Iterable[Mapping[str, Any]]) -> tuple[Step, ...]:
    """Return what would be done, in the engine's order; what stays as it is, and providers, are no steps."""
    return tuple(_steps(events))


def violations(events: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    """Return what breaks a mandatory policy, a sentence each; what is said of several resources is said once."""
    found: dict[tuple[str, str], list[str]] = {}
    for event in events:
        one = event.get("policyEvent")
        if one is not None and one["enforcementLevel"] == "mandatory":
            what = (one["policyName"], " ".join(one["message"].split()))
            found.setdefault(what, []).append(one["resourceUrn"].rpartition("::")[2])
    return tuple(f"{policy}: {_first(names)}: {said}" for (policy, said), names in found.items())


def _first(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"


def _steps(events: Iterable[Mapping[str, Any]]) -> Iterator[Step]:
    for event in events:
        metadata = event.get("resourcePreEvent", {}).get("metadata")
        if metadata is None or metadata["op"] not in _OPERATIONS or metadata["type"].startswith(_OWN_DOING):
            continue
        old, new = metadata.get("old") or {}, metadata.get("new") or {}
        yield Step(
            operation=_OPERATIONS[metadata["op"]],
            type=metadata["type"],
            name=metadata["urn"].rpartition("::")[2],
            changed=_tops(metadata.get("diffs")) or _differing(old.get("inputs"), new.get("inputs")),
            reasons=_tops(metadata.get("keys")),
            old=old.get("inputs") or {},
            new=new.get("inputs") or {},
            retained=bool(old.get("retainOnDelete")),
        )


def _tops(paths: Iterable[str] | None) -> tuple[str, ...]:
    """Return the first keys of property paths, each once."""
    return tuple(dict.fromkeys(path.partition(".")[0].partition("[")[0] for path in paths or ()))


def _differing(old: Mapping[str, Any] | None, new: Mapping[str, Any] | None) -> tuple[str, ...]:
    if not old or not new:
        return ()
    return tuple(sorted(key for key in {*old, *new} if old.get(key) != new.get(key)))
