"""Device plugins: without its own, a node's GPUs or its fabric adapter are none to Kubernetes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pulumi
from pulumi_kubernetes.apps.v1 import DaemonSet, DaemonSetSpecArgs
from pulumi_kubernetes.core.v1 import (
    ContainerArgs,
    EnvVarArgs,
    HostPathVolumeSourceArgs,
    PodSpecArgs,
    PodTemplateSpecArgs,
    TolerationArgs,
    VolumeArgs,
    VolumeMountArgs,
)
from pulumi_kubernetes.meta.v1 import LabelSelectorArgs, ObjectMetaArgs

from components import labels, security
from components.counted import resources
from experiment.catalogue.addons import addons
from experiment.nodes import Placing

NAMESPACE = "kube-system"
_SOCKETS = "/var/lib/kubelet/device-plugins"


@dataclass(frozen=True, kw_only=True)
class Device:
    """What one plugin tells the kubelet of, and what it must see of the node for that.

    Attributes:
        plugin: its name here and among the add-ons that the plan counts.
        directory: of the node, with the devices; none where the container runtime hands them over.
        environment: of its container.
    """

    plugin: str
    directory: str | None = None
    environment: Mapping[str, str] = field(default_factory=dict)


GPUS = Device(plugin="nvidia-device-plugin", environment={"FAIL_ON_INIT_ERROR": "false"})
FABRIC = Device(plugin="aws-efa-k8s-device-plugin", directory="/dev/infiniband")


@dataclass(frozen=True, kw_only=True)
class DevicePluginArgs:
    """Of which devices, by which image, on which nodes."""

    experiment: str
    device: Device
    image: str
    nodes: Placing
    after: Sequence[pulumi.Resource]


class DevicePlugin(pulumi.ComponentResource):
    """A pod on every node of the group, whatever taints it has.

    The nodes' image is the AL2023 one, which has the drivers and NVIDIA's container runtime, so a plugin needs no
    rights but the directory in which the kubelet listens, and the devices themselves to be looked at.
    """

    def __init__(self, name: str, args: DevicePluginArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("splitbed:index:DevicePlugin", name, None, opts)
        device = args.device
        own = labels.of(args.experiment, device.plugin)
        directories = {"sockets": _SOCKETS, **({"devices": device.directory} if device.directory else {})}
        self.daemon_set = DaemonSet(
            f"{name}-daemon-set",
            metadata=ObjectMetaArgs(name=device.plugin, namespace=NAMESPACE, labels=own),
            spec=DaemonSetSpecArgs(
                selector=LabelSelectorArgs(match_labels={labels.COMPONENT: device.plugin}),
                template=PodTemplateSpecArgs(
                    metadata=ObjectMetaArgs(labels=own),
                    spec=PodSpecArgs(
                        automount_service_account_token=False,
                        enable_service_links=False,
                        host_network=addons()[device.plugin].host_network or None,
                        priority_class_name=addons()[device.plugin].priority,
                        node_selector=dict(args.nodes.selector),
                        tolerations=[TolerationArgs(operator="Exists")],
                        containers=[_plugin(args, directories)],
                        volumes=[
                            VolumeArgs(name=called, host_path=HostPathVolumeSourceArgs(path=path))
                            for called, path in directories.items()
                        ],
                    ),
                ),
            ),
            opts=pulumi.ResourceOptions(parent=self, depends_on=list(args.after)),
        )
        self.register_outputs({})


def _plugin(args: DevicePluginArgs, directories: Mapping[str, str]) -> ContainerArgs:
    return ContainerArgs(
        name="plugin",
        image=args.image,
        image_pull_policy="IfNotPresent",
        env=[EnvVarArgs(name=name, value=value) for name, value in sorted(args.device.environment.items())] or None,
        resources=resources(args.device.plugin),
        security_context=security.container(),
        volume_mounts=[VolumeMountArgs(name=called, mount_path=path) for called, path in directories.items()],
    )
