"""Pod templates of a LeaderWorkerSet: the leader serves HTTP, workers join it."""

from collections.abc import Sequence
from dataclasses import dataclass

import pulumi
from pulumi_kubernetes.core.v1 import (
    AffinityArgs,
    ConfigMapVolumeSourceArgs,
    ContainerArgs,
    ContainerPortArgs,
    EmptyDirVolumeSourceArgs,
    EnvVarArgs,
    EnvVarSourceArgs,
    ExecActionArgs,
    HTTPGetActionArgs,
    ObjectFieldSelectorArgs,
    PodAffinityTermArgs,
    PodAntiAffinityArgs,
    PodSpecArgs,
    PodTemplateSpecArgs,
    ProbeArgs,
    ResourceRequirementsArgs,
    VolumeArgs,
    VolumeMountArgs,
    WeightedPodAffinityTermArgs,
)
from pulumi_kubernetes.meta.v1 import LabelSelectorArgs, ObjectMetaArgs

from components import labels, security
from components.placing import tolerations
from components.weights import FetchedWeights
from experiment import arguments, efa, fetching
from experiment.arguments import AGENT_PORT, HTTP_PORT, MASTER_PORT
from experiment.asked import Role
from experiment.engine import Engine, Model
from experiment.nodes import Device, Placing
from experiment.probes import Probes
from experiment.resources import GPU, memory_quantity
from experiment.topology import Topology

SCRIPTS = ("agent.py", "await_leader.py", "see_leader.py")
SCRIPTS_AT = "/splitbed"
_ENGINE, _WAIT = "engine", "await-leader"
GRACE_S = 10
"""Seconds between the end of the engine's own time-out and a kill."""


@dataclass(frozen=True, kw_only=True)
class EnginePodsArgs:
    """What the pods of one LeaderWorkerSet have in common."""

    experiment: str
    set_name: str
    scripts: pulumi.Input[str]
    service_account: pulumi.Input[str]
    model: Model
    engine: Engine
    image: str
    gpus: int
    efa: int
    topology: Topology
    nodes: Placing
    weights: FetchedWeights | None = None
    """None if the engine fetches by itself."""


def template(role: Role, args: EnginePodsArgs) -> PodTemplateSpecArgs:
    """Return the template of the group's first pod or of its other ones."""
    volumes, mounts = _volumes(args)
    return PodTemplateSpecArgs(
        metadata=ObjectMetaArgs(
            labels={**labels.of(args.experiment, "engine"), labels.ROLE: role}, annotations=_annotations(args)
        ),
        spec=PodSpecArgs(
            service_account_name=args.service_account,
            automount_service_account_token=False,
            enable_service_links=False,  # a Service's name would become a variable that the engine reads as its own
            termination_grace_period_seconds=args.engine.shutdown_timeout_s + GRACE_S,
            security_context=security.pod(seccomp=args.gpus > 0),
            node_selector=dict(args.nodes.selector),
            tolerations=tolerations(args.nodes.tolerations),
            affinity=_affinity(args),
            init_containers=_before(role, args, mounts) or None,
            containers=[_engine(role, args, mounts)],
            volumes=volumes,
        ),
    )


def _annotations(args: EnginePodsArgs) -> dict[str, str] | None:
    if args.weights is None or not args.weights.rights:
        return None
    # Else EKS would hand the pod's rights in AWS to all of its containers.
    return {"eks.amazonaws.com/skip-containers": f"{_ENGINE},{_WAIT}"}


def _before(role: Role, args: EnginePodsArgs, mounts: Sequence[VolumeMountArgs]) -> list[ContainerArgs]:
    fetched = [args.weights.container] if args.weights else []
    return [*fetched, *([_wait(args, mounts)] if role == "worker" else [])]


def _engine(role: Role, args: EnginePodsArgs, mounts: Sequence[VolumeMountArgs]) -> ContainerArgs:
    argv = arguments.serve(role, args.model, args.engine, args.topology)
    startup, steady = _probes(role, args.engine.probes)
    return ContainerArgs(
        name=_ENGINE,
        image=args.image,
        image_pull_policy="IfNotPresent",
        command=_script("agent.py", f"{AGENT_PORT}", f"{HTTP_PORT}", argv[0]),
        args=list(argv[1:]),
        env=_environment(args),
        ports=_ports(role),
        resources=_resources(args),
        startup_probe=startup,
        readiness_probe=steady,
        liveness_probe=steady,
        security_context=security.container(),
        termination_message_policy="FallbackToLogsOnError",
        volume_mounts=[*mounts, *([args.weights.mount] if args.weights else [])],
    )


def _ports(role: Role) -> list[ContainerPortArgs]:
    http = [ContainerPortArgs(name="http", container_port=HTTP_PORT)] if role == "leader" else []
    return [*http, ContainerPortArgs(name="counters", container_port=AGENT_PORT)]


def _wait(args: EnginePodsArgs, mounts: Sequence[VolumeMountArgs]) -> ContainerArgs:
    return ContainerArgs(
        name=_WAIT,
        image=args.image,
        image_pull_policy="IfNotPresent",
        command=_script("await_leader.py", f"{MASTER_PORT}", f"{_leader_s(args):g}"),
        resources=_resources(args),
        security_context=security.container(),
        termination_message_policy="FallbackToLogsOnError",
        volume_mounts=list(mounts),
    )


def _leader_s(args: EnginePodsArgs) -> float:
    """Return for how long a worker waits: its leader may still have to fetch what the worker's node has."""
    return args.engine.probes.startup_s + (fetching.LONGEST_S if args.weights else 0)


def _script(name: str, *given: str) -> list[str]:
    # Isolated and without site packages: it starts in a few hundredths of a second, in the engine's own quota.
    return ["python3", "-I", "-S", f"{SCRIPTS_AT}/{name}", *given]


def _environment(args: EnginePodsArgs) -> list[EnvVarArgs]:
    device: Device = "gpu" if args.gpus else "cpu"
    variables = args.engine.environment(device, args.topology.tensor, fabric=args.efa > 0)
    if args.weights:  # what is missing then is an error, and not a download without a token
        variables.setdefault("HF_HUB_OFFLINE", "1")
    fixed = [EnvVarArgs(name=name, value=value) for name, value in sorted(variables.items())]
    pod_ip = EnvVarSourceArgs(field_ref=ObjectFieldSelectorArgs(api_version="v1", field_path="status.podIP"))
    return [*fixed, EnvVarArgs(name="VLLM_HOST_IP", value_from=pod_ip)]


def _resources(args: EnginePodsArgs) -> ResourceRequirementsArgs:
    quantities = args.engine.resources.quantities()
    if args.gpus:
        quantities[GPU] = str(args.gpus)
    if args.efa:
        quantities[efa.RESOURCE] = str(args.efa)
    return ResourceRequirementsArgs(requests=quantities, limits=quantities)


def _probes(role: Role, probes: Probes) -> tuple[ProbeArgs, ProbeArgs]:
    """Return the startup probe, and the one for readiness and for liveness."""
    health = HTTPGetActionArgs(path="/health", port=HTTP_PORT) if role == "leader" else None
    joined = ExecActionArgs(command=_script("see_leader.py", f"{MASTER_PORT}")) if role == "worker" else None
    startup, steady = (
        ProbeArgs(
            http_get=health,
            exec_=joined,
            period_seconds=probes.period_s,
            timeout_seconds=probes.timeout_s,
            failure_threshold=failures,
        )
        for failures in (probes.startup_failures, probes.failures)
    )
    return startup, steady


def _affinity(args: EnginePodsArgs) -> AffinityArgs:
    """Keep the pods of one group on different nodes, and those of different groups too where there is room."""
    same_set = LabelSelectorArgs(match_labels={labels.LWS_NAME: args.set_name})
    same_group = PodAffinityTermArgs(
        topology_key=labels.HOSTNAME, label_selector=same_set, match_label_keys=[labels.LWS_GROUP]
    )
    spread = PodAffinityTermArgs(topology_key=labels.HOSTNAME, label_selector=same_set)
    return AffinityArgs(
        pod_anti_affinity=PodAntiAffinityArgs(
            required_during_scheduling_ignored_during_execution=[same_group] if args.topology.size > 1 else None,
            preferred_during_scheduling_ignored_during_execution=[
                WeightedPodAffinityTermArgs(weight=100, pod_affinity_term=spread)
            ],
        )
    )


def _volumes(args: EnginePodsArgs) -> tuple[list[VolumeArgs], list[VolumeMountArgs]]:
    scratch, at_scratch = security.scratch()
    shared = EmptyDirVolumeSourceArgs(
        medium="Memory", size_limit=memory_quantity(args.engine.resources.shared_memory_gib)
    )
    volumes = [
        scratch,
        VolumeArgs(name="shm", empty_dir=shared),
        VolumeArgs(name="scripts", config_map=ConfigMapVolumeSourceArgs(name=args.scripts)),
        *(args.weights.volumes if args.weights else []),
    ]
    mounts = [
        at_scratch,
        VolumeMountArgs(name="shm", mount_path="/dev/shm"),  # noqa: S108  the pod's own
        VolumeMountArgs(name="scripts", mount_path=SCRIPTS_AT, read_only=True),
    ]
    return volumes, mounts
