"""What a node of an instance type lets pods have, by EKS's own formulas."""

from dataclasses import dataclass

from experiment.catalogue.instances import InstanceType

_POD_MIB = 11
_NODE_MIB = 255
_EVICTION_MIB = 100
_OVERHEAD_SHARE, _OVERHEAD_MIB = 0.0383, 140


@dataclass(frozen=True, kw_only=True)
class Allocatable:
    """What is left of a node for the requests of pods.

    Attributes:
        cpu_millicores: thousandths of a core.
        memory_mib: MiB.
        pods: how many pods, those of the host's network included.
        estimated: the memory that the kernel sees was not measured on this type, so `memory_mib` is an estimate.
    """

    cpu_millicores: int
    memory_mib: int
    pods: int
    estimated: bool


def allocatable(instance: InstanceType) -> Allocatable:
    """Return what a node of this type lets pods have.

    EKS's own bootstrap reserves of the memory 255 MiB and 11 MiB for every pod that the interfaces have an address for
    (even where the node group allows fewer), and a pod is evicted when less than 100 MiB are available
    (awslabs/amazon-eks-ami, nodeadm/internal/kubelet/config.go).
    """
    visible = instance.visible_mib if instance.visible_mib is not None else visible_mib(instance)
    return Allocatable(
        cpu_millicores=1000 * instance.vcpus - reserved_millicores(instance.vcpus),
        memory_mib=visible - (_NODE_MIB + _POD_MIB * instance.eni_pods) - _EVICTION_MIB,
        pods=instance.pods,
        estimated=instance.visible_mib is None,
    )


def reserved_millicores(vcpus: int) -> int:
    """Return what EKS reserves: 6 % of the first core, 1 % of the second, 0.5 % of the next two, 0.25 % of the rest.

    Args:
        vcpus: cores as Linux counts them.
    """
    shares = (60.0, 10.0, 5.0, 5.0)
    return int(sum(shares[:vcpus]) + 2.5 * max(0, vcpus - len(shares)))


def visible_mib(instance: InstanceType) -> int:
    """Return an estimate, to the safe side, of the memory that the kernel sees, in MiB.

    Firmware and kernel take at most 140 MiB and 3.83 % of the nominal memory: of 137 types that were measured
    (`hardware.json`) none of 2 GiB or more lost more, and none had over 140 MiB and 1.3 % more than this says.
    """
    return int(instance.memory_mib * (1 - _OVERHEAD_SHARE)) - _OVERHEAD_MIB
