"""Other instance types that would hold the whole model in one pod, by their price."""

import re

from experiment.catalogue.allocatable import allocatable
from experiment.catalogue.instances import InstanceType, instance_type, instance_types
from experiment.catalogue.prices import hourly_usd
from experiment.nodes import InstanceGroup
from experiment.plan.part import Part


class Alternative(Part):
    """One instance type that holds the whole model.

    Attributes:
        instance: its name.
        memory_gib: nominal.
        room_gib: what one pod may have of it, what runs on every node subtracted.
        usd_per_hour: of one, on demand.
        price_date: when that was read.
        estimated: nobody measured what memory the kernel sees on this type.
    """

    instance: str
    memory_gib: float
    room_gib: float
    usd_per_hour: float
    price_date: str
    estimated: bool

    def __str__(self) -> str:
        return f"{self.instance} ({self.memory_gib:g} GiB, {self.usd_per_hour:.4f} USD an hour)"


def cost_usd(region: str, group: InstanceGroup) -> float | None:
    """Return what the group's instances cost an hour on demand; None where the price is not known."""
    price = hourly_usd(region, group.instance, "on-demand")
    return None if price is None else price.usd * group.count


def alternatives(
    region: str, group: InstanceGroup, *, need_gib: float, cpu: float, beside_mib: int
) -> tuple[Alternative, ...]:
    """Return the instance types one of which holds one pod of `need_gib` for no more than the group costs.

    CPU instances of the same architecture and no older generation (Graviton2 has no bfloat16), without credits, the
    cheapest first; nothing where the group's own price is not known.

    Args:
        region: whose prices.
        group: what they would replace.
        need_gib: memory of the pod.
        cpu: its cores.
        beside_mib: memory of what runs on every node besides.
    """
    limit = cost_usd(region, group)
    if limit is None:
        return ()
    own = instance_type(group.instance)
    found = []
    for instance in instance_types().values():
        price = hourly_usd(region, instance.name, "on-demand")
        if price is None or price.usd > limit + 1e-9 or not _comparable(instance, own):
            continue
        room = allocatable(instance)
        room_gib = (room.memory_mib - beside_mib) / 1024
        if room_gib >= need_gib and room.cpu_millicores >= cpu * 1000:
            found.append(
                Alternative(
                    instance=instance.name,
                    memory_gib=instance.memory_mib / 1024,
                    room_gib=room_gib,
                    usd_per_hour=price.usd,
                    price_date=price.date,
                    estimated=room.estimated,
                )
            )
    return tuple(sorted(found, key=lambda one: (one.usd_per_hour, one.instance)))


def _comparable(instance: InstanceType, own: InstanceType) -> bool:
    return (
        instance.name != own.name
        and instance.architecture == own.architecture
        and not instance.gpus
        and not instance.burstable
        and _generation(instance.name) >= _generation(own.name)
    )


def _generation(name: str) -> int:
    found = re.match(r"[a-z]+(\d+)", name)
    return int(found[1]) if found else 0
