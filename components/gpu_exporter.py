"""NVIDIA's DCGM exporter: what every GPU of a node does, needs and sends, for whoever asks by HTTP."""

from collections.abc import Sequence
from dataclasses import dataclass

import pulumi
from pulumi_kubernetes.apps.v1 import DaemonSet, DaemonSetSpecArgs
from pulumi_kubernetes.core.v1 import (
    CapabilitiesArgs,
    ContainerArgs,
    ContainerPortArgs,
    EmptyDirVolumeSourceArgs,
    EnvVarArgs,
    EnvVarSourceArgs,
    HostPathVolumeSourceArgs,
    HTTPGetActionArgs,
    ObjectFieldSelectorArgs,
    PodSecurityContextArgs,
    PodSpecArgs,
    PodTemplateSpecArgs,
    ProbeArgs,
    SeccompProfileArgs,
    SecurityContextArgs,
    TolerationArgs,
    VolumeArgs,
    VolumeMountArgs,
)
from pulumi_kubernetes.meta.v1 import LabelSelectorArgs, ObjectMetaArgs

from components import labels
from components.counted import resources
from components.device_plugin import NAMESPACE
from experiment.nodes import Placing
from experiment.observe import DCGM_PORT

NAME = "dcgm-exporter"
_POD_RESOURCES = "/var/lib/kubelet/pod-resources"


@dataclass(frozen=True, kw_only=True)
class GpuExporterArgs:
    """By which image, on which nodes."""

    experiment: str
    image: str
    nodes: Placing
    after: Sequence[pulumi.Resource]


class GpuExporter(pulumi.ComponentResource):
    """One exporter a node with GPUs; it asks for no GPU, and NVIDIA's runtime shows it all of them.

    It is user 0 with one capability. Which pod holds a GPU stands in a socket of the kubelet's that belongs to root,
    and the counters of PCIe, NVLink and tensor cores, half of the question between one big instance and two small
    ones, are given out by the driver only to who has SYS_ADMIN.
    """

    def __init__(self, name: str, args: GpuExporterArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("splitbed:index:GpuExporter", name, None, opts)
        own = labels.of(args.experiment, NAME)
        found_by = {"prometheus.io/scrape": "true", "prometheus.io/port": str(DCGM_PORT)}
        self.daemon_set = DaemonSet(
            f"{name}-daemon-set",
            metadata=ObjectMetaArgs(name=NAME, namespace=NAMESPACE, labels=own),
            spec=DaemonSetSpecArgs(
                selector=LabelSelectorArgs(match_labels={labels.COMPONENT: NAME}),
                template=PodTemplateSpecArgs(
                    metadata=ObjectMetaArgs(labels=own, annotations=found_by),
                    spec=PodSpecArgs(
                        automount_service_account_token=False,
                        enable_service_links=False,
                        node_selector=dict(args.nodes.selector),
                        tolerations=[TolerationArgs(operator="Exists")],
                        security_context=PodSecurityContextArgs(
                            run_as_user=0, run_as_group=0, seccomp_profile=SeccompProfileArgs(type="RuntimeDefault")
                        ),
                        containers=[_exporter(args.image)],
                        volumes=[
                            VolumeArgs(name="pod-resources", host_path=HostPathVolumeSourceArgs(path=_POD_RESOURCES)),
                            *(VolumeArgs(name=called, empty_dir=EmptyDirVolumeSourceArgs()) for called in _WRITTEN),
                        ],
                    ),
                ),
            ),
            opts=pulumi.ResourceOptions(parent=self, depends_on=list(args.after)),
        )
        self.register_outputs({})


_WRITTEN = {"tmp": "/tmp", "run": "/run"}  # noqa: S108  the pod's own


def _exporter(image: str) -> ContainerArgs:
    node = EnvVarSourceArgs(field_ref=ObjectFieldSelectorArgs(api_version="v1", field_path="spec.nodeName"))
    healthy = HTTPGetActionArgs(path="/health", port=DCGM_PORT)
    return ContainerArgs(
        name="exporter",
        image=image,
        image_pull_policy="IfNotPresent",
        env=[
            EnvVarArgs(name="DCGM_EXPORTER_KUBERNETES", value="true"),
            EnvVarArgs(name="DCGM_EXPORTER_LISTEN", value=f":{DCGM_PORT}"),
            EnvVarArgs(name="NODE_NAME", value_from=node),
        ],
        ports=[ContainerPortArgs(name="metrics", container_port=DCGM_PORT)],
        resources=resources(NAME),
        readiness_probe=ProbeArgs(http_get=healthy, period_seconds=10, timeout_seconds=5),
        liveness_probe=ProbeArgs(
            http_get=healthy, initial_delay_seconds=45, period_seconds=20, timeout_seconds=15, failure_threshold=6
        ),
        security_context=SecurityContextArgs(
            allow_privilege_escalation=False,
            capabilities=CapabilitiesArgs(add=["SYS_ADMIN"], drop=["ALL"]),
            read_only_root_filesystem=True,
        ),
        termination_message_policy="FallbackToLogsOnError",
        volume_mounts=[
            VolumeMountArgs(name="pod-resources", mount_path=_POD_RESOURCES, read_only=True),
            *(VolumeMountArgs(name=called, mount_path=path) for called, path in _WRITTEN.items()),
        ],
    )
