"""Pods that are equal but for their names, and what they make of one another."""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from experiment.labels import HOSTNAME
from experiment.schedule.objects import Node, Pod


@dataclass(frozen=True, eq=False)
class Sort:
    """Equal pods, at least one."""

    pods: tuple[Pod, ...]

    @property
    def one(self) -> Pod:
        """Any of them."""
        return self.pods[0]

    @cached_property
    def shape(self) -> object:
        """What equal pods have in common, whichever node a DaemonSet means them for."""
        return _frozen(dataclasses.replace(self.one, name="", node=None))


def sorted_out(pods: Iterable[Pod]) -> list[Sort]:
    """Return the sorts, in the order in which the first of each came."""
    found: dict[tuple[object, str | None], list[Pod]] = {}
    for pod in pods:
        found.setdefault((_frozen(dataclasses.replace(pod, name="", node=None)), pod.node), []).append(pod)
    return [Sort(tuple(members)) for members in found.values()]


def clash(one: Pod, other: Pod, node: Node) -> bool:
    """Tell whether two pods keep each other off one node."""
    return bool(one.apart_from or other.apart_from) and any(
        this.keeps_apart_from(that, term) and node.label(term.topology) is not None
        for this, that in ((one, other), (other, one))
        for term in this.apart_from
    )


def reaches_further(sort: Sort, sorts: Sequence[Sort]) -> bool:
    """Tell whether pods of a sort and others keep each other off whole zones, not only off nodes."""
    return any(
        this.keeps_apart_from(that, term)
        for other in sorts
        if other is not sort or len(sort.pods) > 1
        for this, that in ((sort.one, other.one), (other.one, sort.one))
        for term in this.apart_from
        if term.topology != HOSTNAME
    )


def node_shape(node: Node) -> object:
    """Return what equal nodes have in common."""
    labels = {key: value for key, value in node.labels.items() if key != HOSTNAME}
    return _frozen(dataclasses.replace(node, name="", labels=labels))


def _frozen(value: Any) -> object:
    """Return something hashable that is equal for equal values."""
    if isinstance(value, Mapping):
        return tuple(sorted((key, _frozen(item)) for key, item in value.items()))
    if isinstance(value, tuple):
        return tuple(_frozen(item) for item in value)
    if dataclasses.is_dataclass(value):
        return tuple(_frozen(getattr(value, field.name)) for field in dataclasses.fields(value))
    return value
