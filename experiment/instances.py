"""Instance types, by what a Kubernetes node of each lets pods have."""

from dataclasses import dataclass

from experiment.errors import SplitbedError


@dataclass(frozen=True, kw_only=True)
class InstanceType:
    """One instance type as a node.

    Attributes:
        name: AWS's name of it.
        cpu_millicores: allocatable CPU in thousandths of a core.
        memory_mib: allocatable memory in MiB.
        pods: how many pods EKS lets a node of it have.
        architecture: as in the label `kubernetes.io/arch`.
        source: where the figures are from.
    """

    name: str
    cpu_millicores: int
    memory_mib: int
    pods: int
    architecture: str
    source: str


INSTANCE_TYPES = {
    instance.name: instance
    for instance in (
        InstanceType(
            name="m7g.2xlarge",
            cpu_millicores=7910,  # 8 cores less 60 + 10 + 2 x 5 + 4 x 2.5 millicores
            memory_mib=30515,  # the 29.8 GiB that the 12B post saw
            pods=58,  # 4 interfaces with 15 addresses each, less one an interface, and 2 pods of the host's network
            architecture="arm64",
            source="EKS's reserved CPU by cores; memory as the 12B post measured it; interface limits of AWS",
        ),
    )
}


def instance_type(name: str) -> InstanceType:
    """Return the instance type of this name.

    Raises:
        SplitbedError: nothing is known of it.
    """
    if name not in INSTANCE_TYPES:
        raise SplitbedError(f"Nothing is known of the instance type {name}.", f"Known: {', '.join(INSTANCE_TYPES)}.")
    return INSTANCE_TYPES[name]
