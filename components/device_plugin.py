"""NVIDIA's device plugin: without it a node's GPUs are none to Kubernetes."""

from collections.abc import Sequence
from dataclasses import dataclass

import pulumi
from pulumi_kubernetes.apps.v1 import DaemonSet, DaemonSetSpecArgs
from pulumi_kubernetes.core.v1 import (
    CapabilitiesArgs,
    ContainerArgs,
    EnvVarArgs,
    HostPathVolumeSourceArgs,
    PodSpecArgs,
    PodTemplateSpecArgs,
    SecurityContextArgs,
    TolerationArgs,
    VolumeArgs,
    VolumeMountArgs,
)
from pulumi_kubernetes.meta.v1 import LabelSelectorArgs, ObjectMetaArgs

from components import labels
from experiment.nodes import Placing

NAME = "nvidia-device-plugin"
NAMESPACE = "kube-system"
_SOCKETS = "/var/lib/kubelet/device-plugins"


@dataclass(frozen=True, kw_only=True)
class DevicePluginArgs:
    """Which image, on which nodes."""

    experiment: str
    image: str
    nodes: Placing
    after: Sequence[pulumi.Resource]


class DevicePlugin(pulumi.ComponentResource):
    """A pod on every node with GPUs, whatever taints it has.

    Their image is the AL2023 one with driver and container runtime, so the plugin needs no rights but the directory
    in which the kubelet listens.
    """

    def __init__(self, name: str, args: DevicePluginArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("splitbed:index:DevicePlugin", name, None, opts)
        own = labels.of(args.experiment, NAME)
        self.daemon_set = DaemonSet(
            f"{name}-daemon-set",
            metadata=ObjectMetaArgs(name=NAME, namespace=NAMESPACE, labels=own),
            spec=DaemonSetSpecArgs(
                selector=LabelSelectorArgs(match_labels={labels.COMPONENT: NAME}),
                template=PodTemplateSpecArgs(
                    metadata=ObjectMetaArgs(labels=own),
                    spec=PodSpecArgs(
                        automount_service_account_token=False,
                        enable_service_links=False,
                        priority_class_name="system-node-critical",
                        node_selector=dict(args.nodes.selector),
                        tolerations=[TolerationArgs(operator="Exists")],
                        containers=[_plugin(args.image)],
                        volumes=[VolumeArgs(name="sockets", host_path=HostPathVolumeSourceArgs(path=_SOCKETS))],
                    ),
                ),
            ),
            opts=pulumi.ResourceOptions(parent=self, depends_on=list(args.after)),
        )
        self.register_outputs({})


def _plugin(image: str) -> ContainerArgs:
    return ContainerArgs(
        name="plugin",
        image=image,
        image_pull_policy="IfNotPresent",
        env=[EnvVarArgs(name="FAIL_ON_INIT_ERROR", value="false")],
        security_context=SecurityContextArgs(
            allow_privilege_escalation=False,
            capabilities=CapabilitiesArgs(drop=["ALL"]),
            read_only_root_filesystem=True,
        ),
        volume_mounts=[VolumeMountArgs(name="sockets", mount_path=_SOCKETS)],
    )
