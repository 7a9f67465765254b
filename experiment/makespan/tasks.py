"""A program's registrations as tasks: for `up`, for `destroy`, and for an `up` that orders no more than it must."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from experiment.makespan import needs
from experiment.makespan.timeline import Task
from experiment.waits import ADDON, CLUSTER, NODE_GROUP, NONE, ROLE, VPC_ENDPOINT, Wait, waits

COMPONENT_CLUSTER = "eks:index:Cluster"
CONTROL_PLANE = "control plane"
_POLICIES = ("aws:iam/rolePolicy:RolePolicy", "aws:iam/rolePolicyAttachment:RolePolicyAttachment")
_PART = "app.kubernetes.io/component"
_TELLING = {ADDON: "addonName", NODE_GROUP: "nodeGroupName", VPC_ENDPOINT: "vpcEndpointType"}
"""Inputs that set resources of a type apart."""


class Registration(Protocol):
    """A resource as the engine is asked for it."""

    @property
    def type(self) -> str:
        """Its token."""

    @property
    def name(self) -> str:
        """Its own."""

    @property
    def urn(self) -> str:
        """Its own."""

    @property
    def parent(self) -> str:
        """URN of the component that it is part of."""

    @property
    def provider(self) -> str:
        """URN and id of its provider, joined by `::`; empty if it has none."""

    @property
    def deleted_with(self) -> str:
        """URN of what it goes with, as do all that it is the parent of, so that nobody deletes them; or empty."""

    @property
    def dependencies(self) -> Sequence[str]:
        """URNs of all that it comes after."""

    @property
    def sources(self) -> Mapping[str, Sequence[str]]:
        """By input, URNs of those of whose outputs it is made."""

    @property
    def inputs(self) -> Mapping[str, Any]:
        """By name."""


def kind(one: Registration) -> str:
    """Return a resource's type and, where that says too little, what sets it apart."""
    if one.type in _TELLING:
        return f"{one.type} {one.inputs[_TELLING[one.type]]}"
    if one.type == needs.DAEMON_SET:
        return f"{one.type} {one.inputs['metadata']['labels'][_PART]}"
    return one.type


def up(program: Iterable[Registration], serving: Wait) -> list[Task]:
    """Return the tasks of `up`, each after all that the program says.

    Args:
        program: all that it registers, in its order.
        serving: how long the engine's pods take until they answer.
    """
    found: list[Task] = []
    for one in program:
        before = frozenset({*one.dependencies, *_provider(one), *filter(None, [one.deleted_with])})
        if one.type == COMPONENT_CLUSTER:
            found += _cluster(one, before, before)
        else:
            found.append(_task(one, before, serving))
    return found


def unavoidable(program: Sequence[Registration], serving: Wait) -> list[Task]:
    """Return the tasks of an `up` in which each waits for nothing but what it needs: data, and `needs.NEEDS`."""
    by_kind: dict[str, list[str]] = defaultdict(list)
    policies: dict[str, list[str]] = defaultdict(list)
    for one in program:
        for known in {kind(one), one.type}:
            by_kind[known].append(one.urn)
        if one.type == COMPONENT_CLUSTER:
            by_kind[CLUSTER].append(f"{one.urn}/{CONTROL_PLANE}")
        if one.type in _POLICIES:
            for role in one.sources.get("role", ()):
                policies[role].append(one.urn)
    found: list[Task] = []
    for one in program:
        data = {urn for urns in one.sources.values() for urn in urns}
        # A role is of no use without what it may do.
        rights = {} if one.type in _POLICIES else {urn for role in data for urn in policies[role]}
        besides = {urn for needed in needs.needed(kind(one)) for urn in by_kind[needed]}
        before = frozenset({*data, *rights, *besides, *_provider(one)})
        if one.type == COMPONENT_CLUSTER:
            found += _cluster(one, frozenset(), before)
        else:
            found.append(_task(one, before, serving))
    return found


def destroy(program: Sequence[Registration]) -> list[Task]:
    """Return the tasks of `destroy`: each goes after all that came after it."""
    coming = up(program, NONE)
    taken: set[str] = set()
    for one in program:  # parents first
        if one.deleted_with or one.parent in taken:
            taken.add(one.urn)
    kinds = {one.urn: kind(one) for one in program}
    after: dict[str, set[str]] = defaultdict(set)
    for task in coming:
        for need in task.needs:
            after[need].add(task.id)
    gone: list[Task] = []
    for task in reversed(coming):
        type_ = kinds.get(task.id) or _PARTS[task.id.rpartition("/")[2]]
        known = NONE if task.id in taken else waits(type_).delete
        gone.append(Task(task.id, task.what, known, frozenset(after[task.id])))
    return gone


def _provider(one: Registration) -> list[str]:
    return [one.provider.rpartition("::")[0]] if one.provider else []


def _task(one: Registration, before: frozenset[str], serving: Wait) -> Task:
    known = serving if one.type == needs.SERVING else waits(kind(one)).create
    return Task(one.urn, f"{_short(one.type)} {one.name}", known, before)


_ROLE, _POLICY, _PLANE, _ENTRIES, _RIGHTS = (
    "role",
    "policy of its role",
    CONTROL_PLANE,
    "access entries",
    "their rights",
)
_PARTS = {
    _ROLE: ROLE,
    _POLICY: _POLICIES[1],
    _PLANE: CLUSTER,
    _ENTRIES: "aws:eks/accessEntry:AccessEntry",
    _RIGHTS: "aws:eks/accessPolicyAssociation:AccessPolicyAssociation",
}
"""What pulumi-eks's component makes, each by its type."""


def _cluster(one: Registration, before: frozenset[str], control_plane: frozenset[str]) -> Iterator[Task]:
    """Yield what the component makes: a role, the control plane, and who may enter; it is there when all of it is."""

    def part(what: str, needed: Iterable[str]) -> Task:
        type_ = _PARTS[what]
        return Task(f"{one.urn}/{what}", f"{_short(type_)} {one.name}: {what}", waits(type_).create, frozenset(needed))

    role = part(_ROLE, before)
    policy = part(_POLICY, [role.id])
    plane = part(_PLANE, {*control_plane, policy.id})
    parts = [role, policy, plane]
    if one.inputs.get("accessEntries"):
        entries = part(_ENTRIES, [plane.id])
        parts += [entries, part(_RIGHTS, [entries.id])]
    yield from parts
    yield Task(one.urn, f"{_short(one.type)} {one.name}", NONE, frozenset({parts[-1].id}))


def _short(token: str) -> str:
    """Return a token without what its name says again, as `eks:NodeGroup`."""
    package, module, name = token.split(":")
    return f"{module.partition('/')[0]}:{name}" if package == "aws" else f"{package}:{name}"
