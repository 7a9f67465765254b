"""Nodes and pods, as far as the scheduler's rules ask about them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from experiment.labels import HOSTNAME

Effect = Literal["NoSchedule", "PreferNoSchedule", "NoExecute"]
Operator = Literal["In", "NotIn", "Exists", "DoesNotExist"]


@dataclass(frozen=True, kw_only=True)
class Taint:
    """What keeps pods off a node unless they tolerate it."""

    key: str
    value: str = ""
    effect: Effect = "NoSchedule"


@dataclass(frozen=True, kw_only=True)
class Toleration:
    """Taints that a pod puts up with: those that match in all that is given.

    Attributes:
        key: of the taint; None matches any.
        value: of the taint; None matches any (operator `Exists`).
        effect: of the taint; None matches any.
    """

    key: str | None = None
    value: str | None = None
    effect: Effect | None = None

    def tolerates(self, taint: Taint) -> bool:
        """Tell whether the taint matches."""
        return (
            self.effect in (None, taint.effect) and self.key in (None, taint.key) and self.value in (None, taint.value)
        )


@dataclass(frozen=True, kw_only=True)
class Requirement:
    """One requirement of a label selector's `matchExpressions`."""

    key: str
    operator: Operator
    values: tuple[str, ...] = ()

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Tell whether labels meet it; `NotIn` is met by a label that is absent."""
        if self.operator == "Exists":
            return self.key in labels
        if self.operator == "DoesNotExist":
            return self.key not in labels
        found = self.key in labels and labels[self.key] in self.values
        return found if self.operator == "In" else not found


@dataclass(frozen=True, kw_only=True)
class LabelSelector:
    """Pods by their labels; the empty selector matches every pod."""

    labels: Mapping[str, str] = field(default_factory=dict)
    expressions: tuple[Requirement, ...] = ()

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Tell whether labels meet all of it."""
        return all(labels.get(key) == value for key, value in self.labels.items()) and all(
            requirement.matches(labels) for requirement in self.expressions
        )


@dataclass(frozen=True, kw_only=True)
class AntiAffinity:
    """Pods beside which a pod may not be, or would rather not be.

    Attributes:
        selector: those pods; `matchLabelKeys` are to be written out, as the API server does on creation.
        topology: label of nodes: nodes with the same value count as one place.
        everywhere: whether pods of every namespace count, or of the pod's own only.
    """

    selector: LabelSelector
    topology: str = HOSTNAME
    everywhere: bool = False


@dataclass(frozen=True, kw_only=True)
class Preference:
    """An anti-affinity that only weighs: `weight` 1 to 100."""

    term: AntiAffinity
    weight: int = 100


@dataclass(frozen=True, kw_only=True)
class Node:
    """A node with what it leaves to pods (its allocatable amounts).

    Attributes:
        name: unique; also the value of the label `kubernetes.io/hostname`, if that is not among the labels.
        labels: of the Node object.
        taints: of the Node object.
        cpu_millicores: thousandths of a core.
        memory_mib: MiB.
        pods: how many pods it takes.
        gpus: `nvidia.com/gpu`.
        unschedulable: whether it is cordoned.
    """

    name: str
    labels: Mapping[str, str] = field(default_factory=dict)
    taints: tuple[Taint, ...] = ()
    cpu_millicores: int
    memory_mib: int
    pods: int
    gpus: int = 0
    unschedulable: bool = False

    def label(self, key: str) -> str | None:
        """Return the value of a label, None if it has none."""
        return self.labels.get(key, self.name if key == HOSTNAME else None)


@dataclass(frozen=True, kw_only=True)
class Pod:
    """A pod with what it asks for.

    Attributes:
        name: unique among the pods.
        owner: what it is for, in words that a person reads, such as `LeaderWorkerSet controller`.
        namespace: where anti-affinities look for pods unless they say otherwise.
        labels: of the pod.
        cpu_millicores: request in thousandths of a core; see `effective` for several containers.
        memory_mib: request in MiB.
        gpus: request for `nvidia.com/gpu`.
        selector: labels that its node must have.
        node: the one node it may be on, as the DaemonSet controller says by a node affinity; any if None.
        tolerations: taints it puts up with.
        apart_from: required anti-affinity.
        away_from: preferred anti-affinity.
        priority: of its priority class; a higher one evicts lower ones where it finds no room.
    """

    name: str
    owner: str = ""
    namespace: str = "default"
    labels: Mapping[str, str] = field(default_factory=dict)
    cpu_millicores: int = 0
    memory_mib: int = 0
    gpus: int = 0
    selector: Mapping[str, str] = field(default_factory=dict)
    node: str | None = None
    tolerations: tuple[Toleration, ...] = ()
    apart_from: tuple[AntiAffinity, ...] = ()
    away_from: tuple[Preference, ...] = ()
    priority: int = 0

    def keeps_apart_from(self, other: "Pod", term: AntiAffinity) -> bool:
        """Tell whether a term of this pod's means another pod."""
        return (term.everywhere or other.namespace == self.namespace) and term.selector.matches(other.labels)
