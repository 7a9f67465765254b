"""The nodes of a stack, as the scheduler sees them."""

from dataclasses import replace

from experiment.catalogue.allocatable import allocatable
from experiment.catalogue.instances import instance_type
from experiment.labels import ARCHITECTURE, GROUP
from experiment.nodes import GPU_TOLERATION, GroupName, InstanceGroup, NodeGroup, Nodes
from experiment.placement import declared_node
from experiment.schedule import Node, Taint


def nodes(declared: Nodes) -> tuple[Node, ...]:
    """Return every node of the two groups, `system-1` and on, then `engine-1` and on.

    Raises:
        SplitbedError: nothing is known of an instance type.
    """
    return (*_group("system", declared.system), *_group("engine", declared.engine))


def _group(name: GroupName, group: NodeGroup | InstanceGroup) -> tuple[Node, ...]:
    one = declared_node(group, "") if isinstance(group, NodeGroup) else _instance(name, group)
    return tuple(replace(one, name=f"{name}-{number + 1}") for number in range(group.count))


def _instance(name: GroupName, group: InstanceGroup) -> Node:
    instance = instance_type(group.instance)
    room = allocatable(instance)
    tainted = instance.gpus and name == "engine"
    taint = Taint(key=GPU_TOLERATION.key, value=GPU_TOLERATION.value or "", effect=GPU_TOLERATION.effect)
    return Node(
        name="",
        labels={GROUP: name, ARCHITECTURE: instance.architecture},
        taints=(taint,) if tainted else (),
        cpu_millicores=room.cpu_millicores,
        memory_mib=room.memory_mib,
        pods=room.pods,
        gpus=instance.gpus,
    )
