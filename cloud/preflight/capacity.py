"""Whether the account may have as much as the stack wants, and whether its zones have it at all."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from cloud.account import Account
from cloud.preflight.check import Check
from experiment.catalogue.instances import instance_types
from experiment.cluster import EksCluster, NewNetwork
from experiment.nodes import InstanceGroup
from experiment.settings import Settings


@dataclass(frozen=True)
class _Quota:
    code: str
    name: str


_STANDARD = "acdhimrtz"
_ON_DEMAND = {
    "standard": _Quota("L-1216C47A", "vCPUs of on-demand Standard instances"),
    "g": _Quota("L-DB2E81BA", "vCPUs of on-demand G and VT instances"),
    "p": _Quota("L-417A185B", "vCPUs of on-demand P instances"),
}
_SPOT = {
    "standard": _Quota("L-34B43A08", "vCPUs of Standard Spot instances"),
    "g": _Quota("L-3819A6DF", "vCPUs of G and VT Spot instances"),
}
# P instances on Spot have several quotas, of which AWS names the one that applies only when it refuses.
_VPCS = _Quota("L-F678F1CE", "VPCs of the region")
_ADDRESSES = _Quota("L-0263D0A3", "public addresses of the region")


def quotas(account: Account, settings: Settings, cluster: EksCluster) -> Iterator[Check]:
    """Check vCPUs by class of instance and way of purchase, VPCs and public addresses, each with what is in use."""
    wanted: dict[tuple[bool, str], int] = {}
    for group in _groups(settings):
        known = instance_types().get(group.instance)
        if known is not None and group.purchase != "reservation":  # what is reserved is counted already
            place = group.purchase == "spot", _class(group.instance)
            wanted[place] = wanted.get(place, 0) + known.vcpus * group.count
    used = _running(account, cluster.region) if wanted else {}
    for (spot, kind), vcpus in wanted.items():
        quota = (_SPOT if spot else _ON_DEMAND).get(kind)
        if quota is None:
            yield Check(f"quota of {kind} instances", ok=True, said=f"not looked up; {vcpus} vCPUs are wanted")
        else:
            yield _enough(account, cluster.region, "ec2", quota, vcpus, used.get((spot, kind), 0))
    if isinstance(cluster.network, NewNetwork):
        vpcs = len(account.pages("ec2", cluster.region, "describe_vpcs", "Vpcs"))
        yield _enough(account, cluster.region, "vpc", _VPCS, 1, vpcs)
        if cluster.network.egress == "nat":
            addresses = len(account.pages("ec2", cluster.region, "describe_addresses", "Addresses"))
            yield _enough(account, cluster.region, "ec2", _ADDRESSES, 1, addresses)


def offerings(account: Account, settings: Settings, cluster: EksCluster) -> Iterator[Check]:
    """Check that the zones in which each group's nodes are have its instance type at all."""
    groups = list(_groups(settings))
    types = sorted({group.instance for group in groups})
    listed = account.pages(
        "ec2",
        cluster.region,
        "describe_instance_type_offerings",
        "InstanceTypeOfferings",
        LocationType="availability-zone",
        Filters=[{"Name": "instance-type", "Values": types}],
    )
    where = {kind: {one["Location"] for one in listed if one["InstanceType"] == kind} for kind in types}
    for group in groups:
        zones = cluster.zones if group.spread else cluster.zones[:1]
        lacking = [zone for zone in zones if zone not in where[group.instance]]
        elsewhere = ", ".join(sorted(where[group.instance]))
        yield Check(
            group.instance,
            ok=not lacking,
            said=f"not offered in {', '.join(lacking)}" if lacking else f"offered in {', '.join(zones)}",
            remedy=f"Name one of these zones first in cluster.zones: {elsewhere}."
            if elsewhere
            else f"{cluster.region} has none; take another region or type.",
        )


def _groups(settings: Settings) -> Iterable[InstanceGroup]:
    return [group for group in (settings.nodes.system, settings.nodes.engine) if isinstance(group, InstanceGroup)]


def _class(instance: str) -> str:
    family = instance.partition(".")[0]
    if family.startswith(("inf", "trn", "dl", "hpc")):
        return family
    if family.startswith(("g", "vt")):
        return "g"
    if family[0] == "p":
        return "p"
    return "standard" if family[0] in _STANDARD else family


def _running(account: Account, region: str) -> dict[tuple[bool, str], int]:
    """Return the vCPUs in use, by Spot or not and by class."""
    alive = [{"Name": "instance-state-name", "Values": ["pending", "running"]}]
    used: dict[tuple[bool, str], int] = {}
    for reservation in account.pages("ec2", region, "describe_instances", "Reservations", Filters=alive):
        for one in reservation["Instances"]:
            place = one.get("InstanceLifecycle") == "spot", _class(one["InstanceType"])
            used[place] = used.get(place, 0) + _vcpus(one)
    return used


def _vcpus(instance: Mapping[str, Any]) -> int:
    options = instance.get("CpuOptions")
    if options:
        return int(options["CoreCount"] * options["ThreadsPerCore"])
    known = instance_types().get(instance["InstanceType"])
    return known.vcpus if known else 0


def _enough(account: Account, region: str, service: str, quota: _Quota, wanted: int, used: int) -> Check:
    said = account.ask("service-quotas", region, "get_service_quota", ServiceCode=service, QuotaCode=quota.code)
    most = int(said["Quota"]["Value"])
    return Check(
        f"quota of {quota.name}",
        ok=used + wanted <= most,
        said=f"{wanted} wanted, {used} in use, {most} allowed",
        remedy=f"Ask for more of {quota.code} in Service Quotas of {region}, or take what is in use down.",
    )
