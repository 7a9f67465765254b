"""How the benchmark's pod keeps its records, whatever the place."""

from collections.abc import Sequence
from dataclasses import dataclass

import pulumi
from pulumi_kubernetes.core.v1 import ContainerArgs, VolumeArgs

VOLUME, MOUNT = "results", "/results"


@dataclass(frozen=True, kw_only=True)
class Records:
    """A volume of the pod, and what carries its records further.

    Attributes:
        volume: called `VOLUME`; the client writes there.
        owned: whether the volume must be made writable by the pod's group.
        printed: whether nobody but the pod can read it, so that the records are printed too.
        carriers: containers that start before the client and fetch from or carry to another place.
        after: what the carriers need.
    """

    volume: VolumeArgs
    owned: bool = False
    printed: bool = False
    carriers: Sequence[ContainerArgs] = ()
    after: Sequence[pulumi.Resource] = ()
