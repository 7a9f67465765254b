"""Which node gets what, what stays Pending, and why."""

from collections.abc import Mapping, Sequence

from experiment.catalogue.allocatable import allocatable
from experiment.catalogue.instances import instance_type
from experiment.nodes import InstanceGroup, Nodes
from experiment.plan.part import Part
from experiment.schedule import Fate, Forecast, Node, Pod, foretell


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
        reason = f": {self.reason}" if self.reason else ""
        return f"{how} of {self.of} {self.owner} pod(s) stay Pending{reason}"


class Placement(Part):
    """Where the pods of the whole stack are.

    Attributes:
        nodes: in the expected order of arrival.
        waiting: what stays Pending in every order or in some.
    """

    nodes: tuple[Room, ...]
    waiting: tuple[Waiting, ...]

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
    forecast = foretell(nodes, pods)
    by_name = {pod.name: pod for pod in pods}
    places = {use.name: use for use in forecast.expected.nodes}
    rooms = []
    for node in nodes:
        use = places[node.name]
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
    return Placement(nodes=tuple(rooms), waiting=_waiting(forecast))


def _place(pod: Pod) -> Place:
    return Place(
        pod=pod.name,
        owner=pod.owner,
        cpu_millicores=pod.cpu_millicores,
        memory_mib=pod.memory_mib,
        gpus=pod.gpus,
    )


def _waiting(forecast: Forecast) -> tuple[Waiting, ...]:
    expected = {one.pod: one.message for one in forecast.expected.pending}
    return tuple(
        Waiting(
            owner=fate.owner,
            of=len(fate.pods),
            least=fate.least,
            most=fate.most,
            exact=fate.exact,
            reason=_reason(fate, expected),
        )
        for fate in forecast.fates
        if fate.most
    )


def _reason(fate: Fate, expected: Mapping[str, str]) -> str:
    shown = fate.example.pending if fate.example else ()
    messages = {**{one.pod: one.message for one in shown}, **expected}
    return next((messages[pod] for pod in fate.pods if pod in messages), "")
