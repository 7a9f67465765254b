"""Every pod of a stack, as the scheduler sees it: add-ons, controller, engine, benchmark."""

from collections.abc import Sequence
from dataclasses import replace

from experiment import names, upload
from experiment.benchmark import S3Results
from experiment.catalogue.addons import AddOn, addons
from experiment.cluster import EksCluster
from experiment.labels import COMPONENT, GROUP, LWS_GROUP, LWS_NAME
from experiment.lws import InstallLws
from experiment.nodes import InstanceGroup, Placing, gpus
from experiment.placement import CONTROLLER
from experiment.schedule import AntiAffinity, LabelSelector, Node, Pod, Preference, Requirement, Toleration
from experiment.settings import Settings

ENGINE, CONTROLLER_OWNER, BENCHMARK = "engine", "LeaderWorkerSet controller", "benchmark"
_SYSTEM = "kube-system"
_ANY_TAINT = (Toleration(),)
# Kubernetes' own two classes: https://kubernetes.io/docs/tasks/administer-cluster/guaranteed-scheduling-critical-addon-pods/
_PRIORITY = {"system-node-critical": 2_000_001_000, "system-cluster-critical": 2_000_000_000, None: 0}
_AN_ENGINE = LabelSelector(expressions=(Requirement(key=LWS_NAME, operator="Exists"),))


def pods(settings: Settings, nodes: Sequence[Node]) -> tuple[Pod, ...]:
    """Return the pods in the order in which they are expected: what a cluster begins with comes first."""
    return (*_addons(settings, nodes), *_controller(settings), *engine_pods(settings), *_benchmark(settings))


def deployed_addons(settings: Settings) -> tuple[AddOn, ...]:
    """Return the add-ons that the stack brings; a cluster that was given has its own, which are not ours to count."""
    ships = settings.logs.kind != "none"
    if not isinstance(settings.cluster, EksCluster):
        return (addons()["log-shipper"],) if ships else ()
    engine = settings.nodes.engine
    wanted = {
        "log-shipper": ships,
        "nvidia-device-plugin": gpus(engine) > 0,
        "aws-efa-k8s-device-plugin": isinstance(engine, InstanceGroup) and engine.efa,
        "dcgm-exporter": settings.observe.dcgm,
    }
    return tuple(addon for addon in addons().values() if wanted.get(addon.name, True))


def _addons(settings: Settings, nodes: Sequence[Node]) -> list[Pod]:
    found = []
    for addon in deployed_addons(settings):
        places = (
            [node for node in nodes if _runs_on(addon, node)] if addon.kind == "daemonset" else [None] * addon.replicas
        )
        for number, place in enumerate(places):
            found.append(_addon(addon, place, number))
    return found


def _runs_on(addon: AddOn, node: Node) -> bool:
    if addon.where == "gpu":
        return node.gpus > 0
    return addon.where == "all" or node.labels.get(GROUP) == addon.where


def _addon(addon: AddOn, place: Node | None, number: int) -> Pod:
    labels = {"app": addon.name}
    spread = AntiAffinity(selector=LabelSelector(labels=labels))
    system = {GROUP: "system"} if addon.where == "system" and place is None else {}
    return Pod(
        name=f"{addon.name}-{place.name if place else number + 1}",
        owner=addon.name,
        namespace=_SYSTEM,
        labels=labels,
        cpu_millicores=addon.cpu_millicores,
        memory_mib=addon.memory_mib,
        selector=system,
        node=place.name if place else None,
        tolerations=_ANY_TAINT if place else (),
        away_from=() if place else (Preference(term=spread),),
        priority=_PRIORITY[addon.priority],
    )


def _controller(settings: Settings) -> list[Pod]:
    if not isinstance(settings.lws, InstallLws):
        return []
    return [
        _placed(
            Pod(
                name="lws-controller-manager",
                owner=CONTROLLER_OWNER,
                namespace="lws-system",
                labels={"control-plane": "controller-manager"},
                cpu_millicores=CONTROLLER.cpu_millicores,
                memory_mib=CONTROLLER.memory_mib,
            ),
            settings.nodes.placing("system"),
        )
    ]


def engine_pods(settings: Settings) -> tuple[Pod, ...]:
    """Return the pods of all groups, each group's leader first; pods of one group keep apart."""
    topology, resources = settings.topology, settings.engine.resources
    name = names.object_name(settings.name)
    per_pod = topology.tensor if gpus(settings.nodes.engine) else 0
    found = []
    for group in range(topology.groups):
        # The group's number matters to nobody where a group is one pod, and equal pods are foretold as one.
        labels = {LWS_NAME: name} | ({LWS_GROUP: str(group)} if topology.size > 1 else {})
        same_set = AntiAffinity(selector=LabelSelector(labels={LWS_NAME: name}))
        same_group = AntiAffinity(selector=LabelSelector(labels=labels))
        for rank in range(topology.size):
            pod = Pod(
                name=f"{name}-{group}" + (f"-{rank}" if rank else ""),
                owner=ENGINE,
                namespace=name,
                labels=labels,
                gpus=per_pod,
                apart_from=(same_group,) if topology.size > 1 else (),
                away_from=(Preference(term=same_set),),
                cpu_millicores=resources.cpu_millicores,
                memory_mib=resources.memory_mib,
            )
            found.append(_placed(pod, settings.nodes.placing("engine")))
    return tuple(found)


def _benchmark(settings: Settings) -> list[Pod]:
    benchmark = settings.benchmark
    if benchmark is None or not settings.topology.groups:
        return []
    carried = isinstance(benchmark.results, S3Results)
    pod = Pod(
        name="benchmark",
        owner=BENCHMARK,
        namespace=names.object_name(settings.name),
        labels={COMPONENT: "benchmark"},
        apart_from=(AntiAffinity(selector=_AN_ENGINE, everywhere=True),),
        cpu_millicores=benchmark.resources.cpu_millicores + (upload.RESOURCES.cpu_millicores if carried else 0),
        memory_mib=benchmark.resources.memory_mib + (upload.RESOURCES.memory_mib if carried else 0),
    )
    return [_placed(pod, settings.nodes.placing("system"))]


def _placed(pod: Pod, placing: Placing) -> Pod:
    return replace(
        pod,
        selector=placing.selector,
        tolerations=tuple(Toleration(key=one.key, value=one.value, effect=one.effect) for one in placing.tolerations),
    )
