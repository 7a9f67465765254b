"""What an instance type is, against what is asked of it."""

import re

from experiment.benchmark import Benchmark
from experiment.catalogue.instances import InstanceType, instance_type, instance_types
from experiment.engine import Engine
from experiment.errors import SplitbedError
from experiment.images import ArchitectureImages, each_image, image_for, named_architecture
from experiment.nodes import Architecture, InstanceGroup, NodeGroup, Nodes, architecture, gpus, groups
from experiment.problem import Problem
from experiment.topology import Topology


def instances_are_known(nodes: Nodes) -> list[Problem]:
    """Of a type that the catalogue does not know, nothing can be planned."""
    found = []
    for name, group in groups(nodes):
        if isinstance(group, InstanceGroup):
            try:
                instance_type(group.instance)
            except SplitbedError as error:
                why = f"nothing is known of the instance type {group.instance}"
                found.append(Problem(f"nodes.{name}.instance", f'"{group.instance}"', why, error.remedy))
    return found


def images_run_on_their_nodes(nodes: Nodes, engine: Engine) -> list[Problem]:
    """An image of another architecture ends in `exec format error`, again and again."""
    wanted = architecture(nodes.engine)
    if isinstance(engine.image, ArchitectureImages):
        if wanted is None:
            if not isinstance(nodes.engine, NodeGroup):
                return []  # said already: the type is not known
            why = "engine.image has an image for each architecture, and nobody says which these nodes have"
            return [Problem("nodes.engine.architecture", "", why, "Write architecture: arm64 or architecture: amd64.")]
        if image_for(engine.image, wanted) is None:
            other = "amd64" if wanted == "arm64" else "arm64"
            found = f"an image for {other} alone, with {_nodes(nodes.engine)} ({wanted})"
            remedy = f"Name one for {wanted}, or take {other} nodes."
            return [Problem("engine.image", found, "these nodes cannot run it", remedy)]
    image = image_for(engine.image, wanted)
    named = named_architecture(image) if image else None
    if image is None or wanted is None or named in (None, wanted):
        return []
    path = "engine.image" if isinstance(engine.image, str) else f"engine.image.{wanted}"
    why = f"its tag says that it is for {named}, and the nodes are {wanted}"
    remedy = f"Name an image for {wanted}, or take {named} nodes."
    return [Problem(path, f"{image} with {_nodes(nodes.engine)}", why, remedy)]


def images_are_of_the_nodes_device(nodes: Nodes, engine: Engine) -> list[Problem]:
    """The two backends of vLLM are published under two names; of an image by another name nothing is known."""
    device, wanted, other = ("GPUs", "vllm-openai", "vllm-openai-cpu")
    if not gpus(nodes.engine):
        device, wanted, other = ("CPUs", "vllm-openai-cpu", "vllm-openai")
    why, remedy = "that is vLLM for the other kind of device", f"Take docker.io/vllm/{wanted}:v{engine.version}."
    return [
        Problem(path, f"{image} with nodes of {device}", why, remedy)
        for path, image in each_image(engine.image, "engine.image")
        if re.search(rf"vllm/{other}[:@]", image)
    ]


def the_benchmark_runs_in_the_engines_image(nodes: Nodes, benchmark: Benchmark | None) -> list[Problem]:
    """The client needs what that image carries, so its node must be able to run it."""
    system, engine = architecture(nodes.system), architecture(nodes.engine)
    if benchmark is None or system is None or engine is None or system == engine:
        return []
    why = "the benchmark runs there, in the engine's image"
    found = f"{_nodes(nodes.system)} ({system}) with engine nodes of {engine}"
    return [Problem(_path("system", nodes.system), found, why, f"Take system nodes of {engine}.")]


def the_system_group_is_plain(nodes: Nodes) -> list[Problem]:
    """It holds what is not measured: GPUs are wasted on it, and CPU credits make the client's clock late."""
    known = _known(nodes.system)
    if known is None:
        return []
    path, found = "nodes.system.instance", f'"{known.name}"'
    remedy = f"Take a small type that is neither, for example {_plain(known.architecture)}."
    if known.gpus:
        why = f"its {known.gpus} GPU(s) would be paid for controller, add-ons and benchmark, which use none"
        return [Problem(path, found, why, remedy)]
    if known.burstable:
        why = "it is burstable: the benchmark's client would be slowed when its CPU credits are spent"
        return [Problem(path, found, why, remedy)]
    return []


def tensor_parts_find_their_devices(nodes: Nodes, topology: Topology) -> list[Problem]:
    """Each part of a layer takes a GPU, on CPUs a NUMA node; vLLM ends with "Not enough allowed NUMA nodes"."""
    if topology.groups == 0:
        return []
    each = gpus(nodes.engine)
    where = f"with {_nodes(nodes.engine)}"
    if each:
        if topology.tensor > each:
            why = f"each part takes a GPU of its own, and a node has {each}"
            return [
                Problem(
                    "topology.tensor", f"{topology.tensor} {where}", why, f"Take {each} or less, or bigger instances."
                )
            ]
        room = nodes.engine.count * (each // topology.tensor)
        if topology.groups * topology.size > room:
            why = (
                f"{topology.groups * topology.size} pods of {topology.tensor} GPU(s) each are asked for, and the "
                f"{nodes.engine.count} node(s) of {each} hold {room}"
            )
            return [
                Problem("topology", f"kind {topology.kind} {where}", why, "Take more or bigger nodes, or fewer pods.")
            ]
        return []
    known = _known(nodes.engine)
    if known is None or known.numa_nodes is None or topology.tensor <= known.numa_nodes:
        return []
    why = (
        f"vLLM's CPU backend binds each rank of a pod to a NUMA node of its own, and a node has {known.numa_nodes}: it "
        'would end with "Not enough allowed NUMA nodes"'
    )
    remedy = "Take tensor: 1; to divide the model, take topology.kind: split, which puts each rank on a node."
    return [Problem("topology.tensor", f"{topology.tensor} {where}", why, remedy)]


def _plain(wanted: Architecture) -> str:
    return "m7g.large" if wanted == "arm64" else "m7i.large"


def _known(group: NodeGroup | InstanceGroup) -> InstanceType | None:
    return instance_types().get(group.instance) if isinstance(group, InstanceGroup) else None


def _nodes(group: NodeGroup | InstanceGroup) -> str:
    return group.instance if isinstance(group, InstanceGroup) else "the declared nodes"


def _path(name: str, group: NodeGroup | InstanceGroup) -> str:
    return f"nodes.{name}.{'instance' if isinstance(group, InstanceGroup) else 'architecture'}"


RULES = (
    instances_are_known,
    images_run_on_their_nodes,
    images_are_of_the_nodes_device,
    the_benchmark_runs_in_the_engines_image,
    the_system_group_is_plain,
    tensor_parts_find_their_devices,
)
