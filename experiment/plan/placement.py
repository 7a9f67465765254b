"""Which node gets what, what stays Pending, and why."""

from collections.abc import Sequence
from dataclasses import replace

from experiment.catalogue.allocatable import allocatable
from experiment.catalogue.instances import instance_type
from experiment.nodes import InstanceGroup, Nodes
from experiment.plan.part import Part
from experiment.schedule import Assignment, Fate, Node, Pod, foretell, schedule

MANY_NODES = 10
"""With more, every order is too much to go through with a daemon set's pod of each node."""


class Place(Part):
    """A pod with its request."""

    pod: str
    owner: str
    cpu_millicores: int
    memory_mib: int
    gpus: int


class Room(Part):
    """A node, what is on it and what it has left; CPU in thousandths of a core, memory in MiB.

    Attributes:
        name: `system-1`, `engine-1`, and on.
        group: system or engine.
        instance: its type; None where the node was declared.
        cpu_millicores: allocatable.
        memory_mib: allocatable.
        estimated: nobody measured what memory the kernel sees on this type.
        gpus: allocatable.
        pods: what is on it in the expected order.
        free_cpu_millicores: left.
        free_memory_mib: left.
        free_gpus: left.
    """

    name: str
    group: str
    instance: str | None
    cpu_millicores: int
    memory_mib: int
    estimated: bool
    gpus: int
    pods: tuple[Place, ...]
    free_cpu_millicores: int
    free_memory_mib: int
    free_gpus: int


class Waiting(Part):
    """Equal pods of which some stay Pending.

    Attributes:
        owner: what they are for.
        of: how many there are.
        least: how many wait in the best order of arrival.
        most: how many wait in the worst.
        exact: whether both are reached.
        reason: the scheduler's own event, or nothing if no order was found that shows it.
    """

    owner: str
    of: int
    least: int
    most: int
    exact: bool
    reason: str

    def __str__(self) -> str:
        how = f"{self.least}" if self.least == self.most else f"{self.least} to {self.most}, by the order of arrival,"
        reason = f": {self.reason.rstrip('.')}" if self.reason else ""
        return f"{how} of {self.of} {self.owner} pod(s) stay Pending{reason}"


class Placement(Part):
    """Where the pods of the whole stack are.

    Attributes:
        nodes: in the expected order of arrival.
        waiting: what stays Pending in every order or in some.
        undecided: owners of whom it was not found out whether some order leaves them Pending.
        folded: daemon sets were taken to come before all else, since there are many nodes.
    """

    nodes: tuple[Room, ...]
    waiting: tuple[Waiting, ...]
    undecided: tuple[str, ...] = ()
    folded: bool = False

    @property
    def always(self) -> tuple[Waiting, ...]:
        """Of which some stay Pending whatever the order."""
        return tuple(one for one in self.waiting if one.least)

    @property
    def sometimes(self) -> tuple[Waiting, ...]:
        """Which wait in some order and not in another."""
        return tuple(one for one in self.waiting if not one.least)


def placement(declared: Nodes, nodes: Sequence[Node], pods: Sequence[Pod]) -> Placement:
    """Return where the pods land that come in this order, and what some order can leave Pending."""
    folded = len(nodes) > MANY_NODES
    forecast = foretell(*(_folded(nodes, pods) if folded else (nodes, pods)))
    expected = schedule(nodes, pods) if folded else forecast.expected
    by_name = {pod.name: pod for pod in pods}
    uses = {use.name: use for use in expected.nodes}
    rooms = []
    for node in nodes:
        use = uses[node.name]
        group = node.name.partition("-")[0]
        of = declared.system if group == "system" else declared.engine
        rooms.append(
            Room(
                name=node.name,
                group=group,
                instance=of.instance if isinstance(of, InstanceGroup) else None,
                cpu_millicores=node.cpu_millicores,
                memory_mib=node.memory_mib,
                estimated=isinstance(of, InstanceGroup) and allocatable(instance_type(of.instance)).estimated,
                gpus=node.gpus,
                pods=tuple(_place(by_name[pod]) for pod in use.pods),
                free_cpu_millicores=use.free_cpu_millicores,
                free_memory_mib=use.free_memory_mib,
                free_gpus=use.free_gpus,
            )
        )
    decided = [fate for fate in forecast.fates if fate.most and (fate.exact or fate.least)]
    return Placement(
        nodes=tuple(rooms),
        waiting=tuple(_waiting(fate, expected) for fate in decided),
        undecided=tuple(dict.fromkeys(fate.owner for fate in forecast.fates if not fate.exact and not fate.least)),
        folded=folded,
    )


def _folded(nodes: Sequence[Node], pods: Sequence[Pod]) -> tuple[tuple[Node, ...], tuple[Pod, ...]]:
    """Take what daemon sets ask for out of the nodes; all that is left is then a matter of few sorts of pods."""
    on: dict[str, list[Pod]] = {}
    for pod in pods:
        if pod.node is not None:
            on.setdefault(pod.node, []).append(pod)
    less = tuple(
        replace(
            node,
            cpu_millicores=node.cpu_millicores - sum(pod.cpu_millicores for pod in on.get(node.name, ())),
            memory_mib=node.memory_mib - sum(pod.memory_mib for pod in on.get(node.name, ())),
            pods=node.pods - len(on.get(node.name, ())),
        )
        for node in nodes
    )
    return less, tuple(pod for pod in pods if pod.node is None)


def _place(pod: Pod) -> Place:
    return Place(
        pod=pod.name,
        owner=pod.owner,
        cpu_millicores=pod.cpu_millicores,
        memory_mib=pod.memory_mib,
        gpus=pod.gpus,
    )


def _waiting(fate: Fate, expected: Assignment) -> Waiting:
    messages = {one.pod: one.message for one in (*(fate.example.pending if fate.example else ()), *expected.pending)}
    return Waiting(
        owner=fate.owner,
        of=len(fate.pods),
        least=fate.least,
        most=fate.most,
        exact=fate.exact,
        reason=next((messages[pod] for pod in fate.pods if pod in messages), ""),
    )
