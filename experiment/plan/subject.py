"""What is planned, in a few words."""

from experiment.cluster import EksCluster
from experiment.nodes import InstanceGroup, NodeGroup
from experiment.plan.part import Part
from experiment.settings import Settings
from experiment.topology import NoTopology, Replicas, Split, Topology

_PURCHASES = {"on-demand": "", "spot": " spot", "reservation": " reserved"}


class Subject(Part):
    """The stack in the words of its file; `end_date` as ISO 8601."""

    name: str
    owner: str
    purpose: str
    end_date: str | None
    model: str
    engine: str
    topology: str
    nodes: str
    where: str


def subject(settings: Settings, *, simulated: bool) -> Subject:
    """Return what is planned."""
    cluster, engine = settings.cluster, settings.engine
    return Subject(
        name=settings.name,
        owner=settings.owner,
        purpose=settings.purpose,
        end_date=settings.end_date.isoformat() if settings.end_date else None,
        model=settings.model.name,
        engine=f"vLLM {engine.version}, {engine.dtype}" + (", simulated by the stand-in engine" if simulated else ""),
        topology=layout(settings.topology),
        nodes=machines(settings.nodes.engine),
        where=f"EKS {cluster.version} in {cluster.region}" if isinstance(cluster, EksCluster) else "a given cluster",
    )


def layout(topology: Topology) -> str:
    """Return a topology in words."""
    parts = f", each over {topology.tensor} ranks" if topology.tensor > 1 else ""
    if isinstance(topology, NoTopology):
        return "nothing is served"
    if isinstance(topology, Split):
        return f"split over {topology.pipeline} pods{parts}"
    if isinstance(topology, Replicas):
        return f"{topology.count} replicas{parts}"
    return "one pod" + (f" over {topology.tensor} ranks" if topology.tensor > 1 else "")


def machines(group: NodeGroup | InstanceGroup) -> str:
    """Return a group of nodes in words."""
    if isinstance(group, InstanceGroup):
        return f"{group.count} x {group.instance}{_PURCHASES[group.purchase]}"
    gpus = f", {group.gpus} GPU(s)" if group.gpus else ""
    return f"{group.count} x {group.cpu:g} CPU, {group.memory_gib:g} GiB{gpus}"
