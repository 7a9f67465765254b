"""Whether the disks of the engine's nodes hold the weights that are fetched onto them."""

import math
from collections.abc import Iterator

from experiment.nodes import InstanceGroup
from experiment.plan.facts import Facts
from experiment.warning import Warning as Warned

OTHERS_GIB = 30.0
"""GiB of a node's disk for all else: the operating system, the engine's image, packed and unpacked, and logs.

Assumed; with CUDA an engine's image alone takes half of it.
"""


def needed_gib(facts: Facts) -> float | None:
    """Return the GiB that an engine node's disk must have; None if nothing is fetched, or the size is not known."""
    settings = facts.settings
    weights, topology, size = settings.model.weights, settings.topology, facts.checkpoint_gib
    if weights.source == "directory" or size is None or not topology.groups:
        return None
    # What the node keeps is there once; else each pod has its own.
    copies = 1 if weights.cache == "node" else math.ceil(topology.groups * topology.size / settings.nodes.engine.count)
    return copies * size + OTHERS_GIB


def warnings(facts: Facts) -> Iterator[Warned]:
    """Say of disks that are ours to choose when they are too small."""
    group, needed = facts.settings.nodes.engine, needed_gib(facts)
    if not isinstance(group, InstanceGroup) or needed is None or group.disk_gib >= needed:
        return
    yield Warned(
        "disk-too-small",
        f"The weights and what else is on an engine node take about {needed:.0f} GiB of its disk, which has "
        f"{group.disk_gib}: pods would be evicted while they fetch. Set nodes.engine.disk_gib to {math.ceil(needed)}.",
        {"needed_gib": math.ceil(needed), "disk_gib": group.disk_gib},
        mistake=True,
    )
