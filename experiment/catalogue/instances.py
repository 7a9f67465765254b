"""EC2 instance types, by what a plan must know of each."""

import difflib
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from experiment.catalogue.data import read
from experiment.errors import SplitbedError

# EKS's rule: an interface's first address is its own, the others are pods'; two pods use the host's network
# (awslabs/amazon-eks-ami, nodeadm/internal/kubelet/maxpods/maxpods.go).
_HOST_NETWORK_PODS = 2
# What managed node groups allow at most (EKS User Guide, "Create a managed node group").
_SMALL_PODS, _LARGE_VCPUS, _LARGE_PODS = 110, 30, 250


@dataclass(frozen=True, kw_only=True)
class InstanceType:
    """One instance type.

    Attributes:
        name: AWS's name of it.
        architecture: as in the label `kubernetes.io/arch`.
        vcpus: hardware threads as Linux counts them.
        memory_mib: nominal memory in MiB.
        visible_mib: memory that the kernel sees (`MemTotal`) in MiB, where it was measured.
        gpus: how many NVIDIA GPUs it has.
        gpu_name: their model, without the maker's name; empty without GPUs.
        gpu_memory_mib: nominal memory of one GPU in MiB.
        interconnect: how its GPUs reach each other; None with fewer than two, or where nothing is known.
        numa_nodes: how many; None where nothing is known.
        network_gbps: baseline bandwidth in Gbit/s; None where AWS only gives it a name.
        eni_pods: how many pods have addresses on its interfaces, by which EKS also reserves memory.
        pods: how many pods a managed node group of EKS lets a node of it have.
        burstable: it earns and spends CPU credits, so that what is measured on it depends on the past.
        efa: it has the Elastic Fabric Adapter.
        source: where the figures are from.
    """

    name: str
    architecture: Literal["amd64", "arm64"]
    vcpus: int
    memory_mib: int
    visible_mib: int | None
    gpus: int
    gpu_name: str
    gpu_memory_mib: int
    interconnect: Literal["nvlink", "pcie"] | None
    numa_nodes: int | None
    network_gbps: float | None
    eni_pods: int
    pods: int
    burstable: bool
    efa: bool
    source: str


def instance_type(name: str) -> InstanceType:
    """Return the instance type of this name.

    Raises:
        SplitbedError: nothing is known of it; the message names those that are spelt nearly so.
    """
    known = instance_types()
    if name not in known:
        near = difflib.get_close_matches(name, known, n=3)
        hint = f"Did you mean {', '.join(near)}?" if near else f"Known families: {', '.join(_families(tuple(known)))}."
        raise SplitbedError(
            f"Nothing is known of the instance type {name}.", f"{hint} `splitbed catalogue refresh` asks AWS for more."
        )
    return known[name]


@cache
def instance_types() -> dict[str, InstanceType]:
    """Return every known instance type by its name."""
    catalogue = read("instances")
    source = f"{catalogue['source']}, {catalogue['date']}"
    return {row["name"]: _instance(row, source) for row in catalogue["types"]}


def _instance(row: dict[str, Any], source: str) -> InstanceType:
    eni_pods = row["interfaces"] * (row["addresses"] - 1) + _HOST_NETWORK_PODS
    return InstanceType(
        name=row["name"],
        architecture=row["architecture"],
        vcpus=row["vcpus"],
        memory_mib=row["memory_mib"],
        visible_mib=_visible_mib(row["name"], row["memory_mib"]),
        gpus=row.get("gpus", 0),
        gpu_name=row.get("gpu_name", ""),
        gpu_memory_mib=row.get("gpu_memory_mib", 0),
        interconnect=_known("interconnect").get(row["name"]),
        numa_nodes=_known("numa_nodes").get(row["name"]),
        network_gbps=row["network_gbps"],
        eni_pods=eni_pods,
        pods=min(eni_pods, _SMALL_PODS if row["vcpus"] < _LARGE_VCPUS else _LARGE_PODS),
        burstable=row.get("burstable", False),
        efa=row.get("efa", False),
        source=source,
    )


def _visible_mib(name: str, memory_mib: int) -> int | None:
    overhead = read("hardware")["memory_overhead"]["bytes"].get(name)
    return None if overhead is None else (memory_mib * 2**20 - overhead) // 2**20


@cache
def _known(what: str) -> dict[str, Any]:
    """Return one property of the instance types of which it is known."""
    return {name: entry["value"] for entry in read("hardware")[what] for name in entry["types"]}


def _families(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name.partition(".")[0] for name in names))
