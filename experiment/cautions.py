"""Settings that go together and are still worth a word before anything is made; what is computed, the plan says."""

from collections.abc import Iterator
from math import floor

from experiment import efa
from experiment.catalogue.instances import InstanceType, instance_types
from experiment.cluster import KubeconfigCluster
from experiment.nodes import InstanceGroup
from experiment.rounding import counted
from experiment.settings import Settings
from experiment.threads import compute_threads
from experiment.warning import Warning  # noqa: A004  the word of the field


def cautions(settings: Settings) -> list[Warning]:
    """Return what a person should know of the settings as they stand; nothing of it depends on sizes or prices."""
    if not settings.topology.groups:
        return []
    return [*_threads(settings), *_unsteady(settings), *_zones(settings), *_fabric(settings), *_sticky(settings)]


def _engine_instance(settings: Settings) -> InstanceType | None:
    group = settings.nodes.engine
    return instance_types().get(group.instance) if isinstance(group, InstanceGroup) else None


def _threads(settings: Settings) -> Iterator[Warning]:
    """Yield the 1B post's case: 7 threads under a quota of 6, and a slow mode that nobody could explain."""
    engine, instance = settings.engine, _engine_instance(settings)
    if settings.device == "gpu":
        return
    if engine.threads == "whole-cores" and isinstance(settings.cluster, KubeconfigCluster):
        yield Warning(
            "cpu-manager-unseen",
            "engine.threads is whole-cores, which needs kubelets with cpuManagerPolicy static on the engine's nodes; "
            "on a cluster that is there, nothing here can see or set that.",
        )
    if instance is None:
        return
    quota, ranks = engine.resources.cpu, settings.topology.tensor
    threads = compute_threads(engine.threads, quota, ranks, instance)
    if threads > floor(quota):
        yield Warning(
            "threads-over-quota",
            f"vLLM sees the {instance.vcpus} CPUs of {instance.name} and computes with {threads} threads, and the pod "
            f"may use {counted(quota, 'CPU')}: once they have used that up, all of them stand still until the kernel's "
            "period of 100 ms ends. Take engine.threads: within-quota or whole-cores, unless this is what you measure.",
            {"threads": threads, "quota_cpus": quota, "visible_cpus": instance.vcpus, "period_ms": 100},
        )


def _unsteady(settings: Settings) -> Iterator[Warning]:
    group, instance = settings.nodes.engine, _engine_instance(settings)
    if instance is not None and instance.burstable:
        yield Warning(
            "burstable-engine",
            f"{instance.name} is burstable: how fast the engine is depends on the CPU credits that are left, so two "
            "runs cannot be compared.",
            mistake=True,
        )
    if isinstance(group, InstanceGroup) and group.purchase == "spot":
        yield Warning(
            "spot-engine",
            "The engine's nodes are spot instances, which AWS may take back within two minutes; finished tests are "
            "kept, the one that runs then is lost.",
        )


def _zones(settings: Settings) -> Iterator[Warning]:
    group = settings.nodes.engine
    if settings.topology.size > 1 and isinstance(group, InstanceGroup) and group.spread:
        yield Warning(
            "split-over-zones",
            "The stages may be in different zones: every token crosses from one to the other and back, later than "
            "within a zone and for money. Take nodes.engine.spread: false.",
            {"stages": settings.topology.size},
            mistake=True,
        )


def _fabric(settings: Settings) -> Iterator[Warning]:
    """Yield what comes of EFA, which is there at once and used only by who can."""
    group = settings.nodes.engine
    if not isinstance(group, InstanceGroup) or not group.efa:
        return
    if not settings.efa_per_pod:
        alone = settings.topology.size == 1
        why = "no group has pods on two nodes" if alone else "the CPU backend's gloo knows TCP alone"
        yield Warning("efa-unused", f"nodes.engine.efa is true, and nothing uses the Elastic Fabric Adapter: {why}.")
        return
    image = settings.engine_image
    known = (
        f"{image} is vLLM's own image, which has neither"
        if efa.image_lacks_it(image)
        else f"Nothing here knows whether {image} has them"
    )
    yield Warning(
        "efa-needs-libraries",
        "Over the Elastic Fabric Adapter NCCL needs libfabric and AWS's plugin (aws-ofi-nccl) in the engine's image. "
        f"{known}; without them it takes TCP, and the run measures that. Build an image on vLLM's with AWS's EFA "
        "installer, name it in engine.image, and look in the engine's log for NET/OFI (by EFA) or NET/Socket (by TCP).",
        {"interfaces": settings.efa_per_pod},
    )


def _sticky(settings: Settings) -> Iterator[Warning]:
    """Yield what the benchmark's one address comes to; alone it asks one copy anyway, many at once are to share all."""
    service, copies, benchmark = settings.service, settings.topology.groups, settings.benchmark
    if service.sticky_s is None or service.measured_apart or copies < 2 or benchmark is None:
        return
    streams = max(cell.streams for test in benchmark.tests for cell in test.cells)
    yield Warning(
        "sticky-by-address",
        f"For {service.sticky_s} s the Service sends all that comes from one address to the same copy. The benchmark's "
        f"pod has one address, so it measures one copy of {copies}, with up to {streams} requests at once. Take "
        "service.measure_sticky: false, unless this is what you measure.",
        {"sticky_s": service.sticky_s, "copies": copies, "streams": streams},
        mistake=streams > 1,
    )
