"""One attempt at one run of the benchmark, as a Job."""

import base64
import math
from collections.abc import Sequence
from dataclasses import dataclass

import pulumi
from pulumi_kubernetes.batch.v1 import (
    Job,
    JobSpecArgs,
    PodFailurePolicyArgs,
    PodFailurePolicyOnPodConditionsPatternArgs,
    PodFailurePolicyRuleArgs,
)
from pulumi_kubernetes.core.v1 import (
    AffinityArgs,
    ConfigMap,
    ConfigMapProjectionArgs,
    ConfigMapVolumeSourceArgs,
    ContainerArgs,
    DownwardAPIProjectionArgs,
    DownwardAPIVolumeFileArgs,
    EnvVarArgs,
    EnvVarSourceArgs,
    KeyToPathArgs,
    ObjectFieldSelectorArgs,
    PodAffinityTermArgs,
    PodAntiAffinityArgs,
    PodSpecArgs,
    PodTemplateSpecArgs,
    ProjectedVolumeSourceArgs,
    ResourceRequirementsArgs,
    ServiceAccount,
    ServiceAccountTokenProjectionArgs,
    VolumeArgs,
    VolumeMountArgs,
    VolumeProjectionArgs,
)
from pulumi_kubernetes.meta.v1 import LabelSelectorArgs, LabelSelectorRequirementArgs, ObjectMetaArgs

from components import labels, security
from components.benchmark_rights import BenchmarkRights, BenchmarkRightsArgs
from components.placing import tolerations
from components.records import MOUNT, VOLUME, Records
from experiment import names, upload
from experiment.asked import Asked
from experiment.nodes import Placing
from experiment.resources import PodResources
from experiment.workload import Plan

ACCOUNT = "benchmark"
"""The service account of its pod."""

CODE_AT = "/splitbed"
TOKEN, TOKEN_AT = "token", "/var/run/secrets/kubernetes.io/serviceaccount"
_TOKEN_S = 3600
_START_S = 600
"""Seconds for what comes before the client's first line: a place on a node, the image."""


@dataclass(frozen=True, kw_only=True)
class BenchmarkJobArgs:
    """What to measure, with which code, and where the records go."""

    experiment: str
    namespace: pulumi.Input[str]
    image: str
    plan: Plan
    attempt: int
    topology: str
    """JSON of the topology, written into every record."""
    code: bytes
    """The zip of the client."""
    url: pulumi.Input[str]
    replicas: Sequence[str]
    """Addresses of several copies themselves."""
    asked: Asked
    """What the pods are held against."""
    records: Records
    resources: PodResources
    nodes: Placing
    after: Sequence[pulumi.Resource] = ()
    """What it measures: there before it, gone after it."""


class BenchmarkJob(pulumi.ComponentResource):
    """A Job that is another one by run id, plan and attempt alone.

    Logical names carry those three and what the objects hold is frozen, so that a changed client or topology starts
    nothing again, and a new attempt is a new Job beside which the old one is removed.
    """

    def __init__(self, name: str, args: BenchmarkJobArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("splitbed:index:BenchmarkJob", name, None, opts)
        job_name = names.job_name(args.plan.run, args.plan.hash, args.attempt)
        own = labels.of(args.experiment, "benchmark")
        account = ServiceAccount(
            f"{name}-account",
            metadata=ObjectMetaArgs(name=ACCOUNT, namespace=args.namespace, labels=own),
            automount_service_account_token=False,
            opts=pulumi.ResourceOptions(parent=self),
        )
        rights = BenchmarkRights(
            f"{name}-rights",
            BenchmarkRightsArgs(
                experiment=args.experiment,
                namespace=args.namespace,
                service_account=account.metadata.name,
                kills=any(test.kind == "loss" for test in args.plan.tests),
            ),
            pulumi.ResourceOptions(parent=self),
        )
        code = ConfigMap(
            f"{name}-code-{job_name}",
            metadata=ObjectMetaArgs(name=job_name, namespace=args.namespace, labels=own),
            data={"plan.json": args.plan.to_json(), "asked.json": args.asked.to_json()},
            binary_data={"benchmark.zip": base64.b64encode(args.code).decode()},
            immutable=True,
            opts=pulumi.ResourceOptions(parent=self, ignore_changes=["data", "binaryData"]),
        )
        job = Job(
            f"{name}-{job_name}",
            # Not awaited: `up` is not to last as long as the benchmark.
            metadata=ObjectMetaArgs(
                name=job_name,
                namespace=args.namespace,
                labels=own,
                annotations={"pulumi.com/skipAwait": "true"},
            ),
            spec=_spec(args, own, account.metadata.name, code.metadata.name),
            opts=pulumi.ResourceOptions(
                parent=self,
                depends_on=[*args.after, *args.records.after, code, account, *rights.bindings],
                ignore_changes=["spec"],
            ),
        )
        self.job_name: pulumi.Output[str] = job.metadata.name
        self.register_outputs({"job_name": self.job_name})


def _spec(
    args: BenchmarkJobArgs, own: dict[str, str], account: pulumi.Input[str], code: pulumi.Input[str]
) -> JobSpecArgs:
    disrupted = PodFailurePolicyOnPodConditionsPatternArgs(type="DisruptionTarget", status="True")
    return JobSpecArgs(
        completions=1,
        parallelism=1,
        backoff_limit=0,
        active_deadline_seconds=math.ceil(args.plan.longest_s) + _START_S,
        pod_replacement_policy="Failed",
        pod_failure_policy=PodFailurePolicyArgs(
            rules=[PodFailurePolicyRuleArgs(action="FailJob", on_pod_conditions=[disrupted])]
        ),
        template=PodTemplateSpecArgs(
            metadata=ObjectMetaArgs(labels=own),
            spec=PodSpecArgs(
                service_account_name=account,
                automount_service_account_token=False,
                enable_service_links=False,
                restart_policy="Never",
                security_context=security.pod(seccomp=True, owns_volumes=args.records.owned),
                node_selector=dict(args.nodes.selector),
                tolerations=tolerations(args.nodes.tolerations),
                affinity=AffinityArgs(
                    pod_anti_affinity=PodAntiAffinityArgs(
                        required_during_scheduling_ignored_during_execution=[_no_engine(), _no_other_benchmark()]
                    )
                ),
                init_containers=list(args.records.carriers) or None,
                containers=[_client(args)],
                termination_grace_period_seconds=upload.GRACE_S if args.records.carriers else None,
                volumes=[
                    security.scratch()[0],
                    VolumeArgs(name="code", config_map=ConfigMapVolumeSourceArgs(name=code)),
                    _token(),
                    args.records.volume,
                ],
            ),
        ),
    )


def _client(args: BenchmarkJobArgs) -> ContainerArgs:
    quantities = args.resources.quantities()
    return ContainerArgs(
        name="benchmark",
        image=args.image,
        image_pull_policy="IfNotPresent",
        command=["python3", "-m", "benchmark", "run"],
        args=[
            *("--plan", f"{CODE_AT}/plan.json", "--asked", f"{CODE_AT}/asked.json"),
            *("--url", args.url, "--results", MOUNT),
            *(word for replica in args.replicas for word in ("--replica", replica)),
            *(["--print-records"] if args.records.printed else []),
        ],
        env=[
            EnvVarArgs(name="HOME", value="/tmp"),  # noqa: S108  the pod's own
            EnvVarArgs(name="PYTHONPATH", value=f"{CODE_AT}/benchmark.zip"),
            EnvVarArgs(name="PYTHONUNBUFFERED", value="1"),
            EnvVarArgs(name="SPLITBED_TOPOLOGY", value=args.topology),
            _field("POD_NAME", "metadata.name"),
            _field("NODE_NAME", "spec.nodeName"),
        ],
        resources=ResourceRequirementsArgs(requests=quantities, limits=quantities),
        security_context=security.container(),
        termination_message_policy="FallbackToLogsOnError",
        volume_mounts=[
            security.scratch()[1],
            VolumeMountArgs(name="code", mount_path=CODE_AT, read_only=True),
            VolumeMountArgs(name=TOKEN, mount_path=TOKEN_AT, read_only=True),
            VolumeMountArgs(name=VOLUME, mount_path=MOUNT),
        ],
    )


def _token() -> VolumeArgs:
    """Return what the kubelet would mount into every container: only the client is to have it."""
    token = ServiceAccountTokenProjectionArgs(path="token", expiration_seconds=_TOKEN_S)
    authority = ConfigMapProjectionArgs(name="kube-root-ca.crt", items=[KeyToPathArgs(key="ca.crt", path="ca.crt")])
    own = ObjectFieldSelectorArgs(api_version="v1", field_path="metadata.namespace")
    namespace = DownwardAPIProjectionArgs(items=[DownwardAPIVolumeFileArgs(path="namespace", field_ref=own)])
    sources = [
        VolumeProjectionArgs(service_account_token=token),
        VolumeProjectionArgs(config_map=authority),
        VolumeProjectionArgs(downward_api=namespace),
    ]
    return VolumeArgs(name=TOKEN, projected=ProjectedVolumeSourceArgs(sources=sources))


def _field(name: str, path: str) -> EnvVarArgs:
    source = EnvVarSourceArgs(field_ref=ObjectFieldSelectorArgs(api_version="v1", field_path=path))
    return EnvVarArgs(name=name, value_from=source)


def _no_engine() -> PodAffinityTermArgs:
    """Never on a node with an engine's pod, of whatever experiment."""
    engines = LabelSelectorRequirementArgs(key=labels.LWS_NAME, operator="Exists")
    return PodAffinityTermArgs(
        topology_key=labels.HOSTNAME,
        label_selector=LabelSelectorArgs(match_expressions=[engines]),
        namespace_selector=LabelSelectorArgs(),
    )


def _no_other_benchmark() -> PodAffinityTermArgs:
    """One benchmark of an experiment at a time: the operating system is a label that all its nodes share."""
    return PodAffinityTermArgs(
        topology_key="kubernetes.io/os",
        label_selector=LabelSelectorArgs(match_labels={labels.COMPONENT: "benchmark"}),
    )
