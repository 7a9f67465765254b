"""The nodes of a stack, as the scheduler sees them."""

from math import floor

from experiment.catalogue.allocatable import allocatable
from experiment.catalogue.instances import instance_type
from experiment.nodes import GPU_TOLERATION, GROUP_LABEL, GroupName, InstanceGroup, NodeGroup, Nodes
from experiment.schedule import Node, Taint

ARCHITECTURE_LABEL = "kubernetes.io/arch"
_PODS = 110  # the kubelet's own default, where nothing is said of a node that was given


def nodes(declared: Nodes) -> tuple[Node, ...]:
    """Return every node of the two groups, `system-1` and on, then `engine-1` and on.

    Raises:
        SplitbedError: nothing is known of an instance type.
    """
    return (*_group("system", declared.system), *_group("engine", declared.engine))


def _group(name: GroupName, group: NodeGroup | InstanceGroup) -> tuple[Node, ...]:
    one = _declared(group) if isinstance(group, NodeGroup) else _instance(name, group)
    names = [f"{name}-{number + 1}" for number in range(group.count)]
    return tuple(
        Node(
            name=each,
            labels=one.labels,
            taints=one.taints,
            cpu_millicores=one.cpu_millicores,
            memory_mib=one.memory_mib,
            pods=one.pods,
            gpus=one.gpus,
        )
        for each in names
    )


def _declared(group: NodeGroup) -> Node:
    return Node(
        name="",
        labels=group.selector,
        taints=tuple(Taint(key=one.key, value=one.value or "", effect=one.effect) for one in group.tolerations),
        cpu_millicores=floor(group.cpu * 1000 + 1e-6),
        memory_mib=floor(group.memory_gib * 1024 + 1e-6),
        pods=_PODS,
        gpus=group.gpus,
    )


def _instance(name: GroupName, group: InstanceGroup) -> Node:
    instance = instance_type(group.instance)
    room = allocatable(instance)
    tainted = instance.gpus and name == "engine"
    taint = Taint(key=GPU_TOLERATION.key, value=GPU_TOLERATION.value or "", effect=GPU_TOLERATION.effect)
    return Node(
        name="",
        labels={GROUP_LABEL: name, ARCHITECTURE_LABEL: instance.architecture},
        taints=(taint,) if tainted else (),
        cpu_millicores=room.cpu_millicores,
        memory_mib=room.memory_mib,
        pods=room.pods,
        gpus=instance.gpus,
    )
