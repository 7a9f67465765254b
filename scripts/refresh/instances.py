"""EC2's own description of an instance type, reduced to what a plan needs."""

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from scripts.refresh.files import order

if TYPE_CHECKING:
    from types_boto3_ec2.type_defs import InstanceTypeInfoTypeDef

# General, compute and memory machines without local disks from the sixth generation on, burstable ones for the system
# group, and NVIDIA's GPUs of data centres. The others would only be in the way.
WANTED = re.compile(r"^([mcr][6-9][agi]|t3a?|t4g|g5g?|g6e?|g7e?|p4de?|p5|p5en?|p6-b[23]00)\.(?!metal)")
_ARCHITECTURES = {"x86_64": "amd64", "arm64": "arm64"}


def rows(described: Iterable["InstanceTypeInfoTypeDef"]) -> list[dict[str, Any]]:
    """Return one row for each wanted type, by name.

    Args:
        described: entries as EC2's DescribeInstanceTypes answers.
    """
    wanted = (entry for entry in described if WANTED.match(entry["InstanceType"]))
    return sorted(map(_row, wanted), key=lambda row: order(row["name"]))


def _row(entry: Mapping[str, Any]) -> dict[str, Any]:
    network = entry["NetworkInfo"]
    cards = network["NetworkCards"]
    first = next(card for card in cards if card["NetworkCardIndex"] == network.get("DefaultNetworkCardIndex", 0))
    row: dict[str, Any] = {
        "name": entry["InstanceType"],
        "architecture": next(
            _ARCHITECTURES[found]
            for found in entry["ProcessorInfo"]["SupportedArchitectures"]
            if found in _ARCHITECTURES
        ),
        "vcpus": entry["VCpuInfo"]["DefaultVCpus"],
        "memory_mib": entry["MemoryInfo"]["SizeInMiB"],
        "interfaces": first["MaximumNetworkInterfaces"],
        "addresses": network["Ipv4AddressesPerInterface"],
        "network_gbps": _gbps(network["NetworkPerformance"], first),
    }
    gpus = entry.get("GpuInfo", {}).get("Gpus", [])
    if gpus:
        row["gpus"] = sum(gpu["Count"] for gpu in gpus)
        row["gpu_name"] = gpus[0]["Name"]
        row["gpu_memory_mib"] = gpus[0]["MemoryInfo"]["SizeInMiB"]
    if entry["BurstablePerformanceSupported"]:
        row["burstable"] = True
    if network.get("EfaSupported"):
        row["efa"] = True
    return row


def _gbps(performance: str, first: Mapping[str, Any]) -> float | None:
    """Return the bandwidth of all cards where AWS names it, else the first card's baseline, below the burst."""
    named = re.fullmatch(r"(?:(\d+)x )?([\d.]+) Gigabit", performance)
    return int(named[1] or 1) * float(named[2]) if named else first.get("BaselineBandwidthInGbps")
