"""Requests of everything that runs beside the engine and the benchmark: an add-on's pods take what nodes have, too."""

from dataclasses import dataclass
from functools import cache
from typing import Literal

from experiment.catalogue.data import read


@dataclass(frozen=True, kw_only=True)
class AddOn:
    """One daemon set or deployment.

    Attributes:
        name: the name of the EKS add-on, or ours.
        kind: a daemon set runs on every node that it selects, a deployment `replicas` times.
        replicas: pods of a deployment; 1 a node of a daemon set.
        cpu_millicores: what one pod requests, all its containers together.
        memory_mib: likewise, in MiB.
        where: the nodes it runs on.
        host_network: it takes no address of its own.
        priority: its priority class, one of the two that every cluster has; none if it has none.
        source: where the figures are from.
    """

    name: str
    kind: Literal["daemonset", "deployment"]
    replicas: int
    cpu_millicores: int
    memory_mib: int
    where: Literal["all", "system", "engine", "gpu"]
    host_network: bool
    priority: Literal["system-node-critical", "system-cluster-critical"] | None
    source: str


@cache
def addons() -> dict[str, AddOn]:
    """Return every add-on by its name."""
    return {entry["name"]: AddOn(**entry) for entry in read("addons")["addons"]}
