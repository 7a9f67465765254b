"""The OpenTelemetry Collector on every node of an experiment, before its first pod writes a line."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass

import pulumi
from pulumi_kubernetes.apps.v1 import DaemonSet, DaemonSetSpecArgs
from pulumi_kubernetes.core.v1 import (
    AffinityArgs,
    ConfigMap,
    ConfigMapVolumeSourceArgs,
    ContainerArgs,
    ContainerPortArgs,
    EnvVarArgs,
    EnvVarSourceArgs,
    HTTPGetActionArgs,
    NodeAffinityArgs,
    NodeSelectorArgs,
    NodeSelectorRequirementArgs,
    NodeSelectorTermArgs,
    ObjectFieldSelectorArgs,
    PodSecurityContextArgs,
    PodSpecArgs,
    PodTemplateSpecArgs,
    ProbeArgs,
    SeccompProfileArgs,
    ServiceAccount,
    TolerationArgs,
    VolumeArgs,
    VolumeMountArgs,
)
from pulumi_kubernetes.meta.v1 import LabelSelectorArgs, ObjectMetaArgs

from components import labels, security
from components.counted import resources
from components.node_directory import NodeDirectory, NodeDirectoryArgs
from experiment import names, shipping
from experiment.catalogue.addons import addons
from experiment.nodes import Placing
from experiment.shipping import HEALTH_PORT, NAME, CloudWatch, Files, Source

ACCOUNT = NAME
"""The service account of its pods."""

_CONFIG_AT, _CONFIG = "/config", "collector.json"
_KEPT_AT, _FILES_AT = "/kept", "/files"
_MIB = 1024 * 1024
_GO_SHARE = 0.8  # of the memory limit, above which Go collects its garbage more eagerly


@dataclass(frozen=True, kw_only=True)
class LogShipperArgs:
    """Whose logs, from which nodes, to where."""

    experiment: str
    namespace: pulumi.Input[str]
    image: str
    destination: CloudWatch | None
    """None for files on the nodes themselves."""
    nodes: Sequence[Placing]
    """The groups of nodes that the experiment's pods may be on."""
    after: Sequence[pulumi.Resource] = ()
    """Nodes of our own, and what gives its pods the right to write."""


class LogShipper(pulumi.ComponentResource):
    """One collector a node, whatever taints the node has.

    It is user 0 without any capability: the logs that it reads belong to root on every node, and so do the directories
    that a kubelet makes for it. That lets it do what their owner may, and nothing else.
    """

    def __init__(self, name: str, args: LogShipperArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("splitbed:index:LogShipper", name, None, opts)
        self._name, self._args = name, args
        self._labels = labels.of(args.experiment, NAME)
        self._child = pulumi.ResourceOptions(parent=self)
        account = ServiceAccount(
            f"{name}-account",
            metadata=ObjectMetaArgs(name=ACCOUNT, namespace=args.namespace, labels=self._labels),
            automount_service_account_token=False,
            opts=self._child,
        )
        config = self._config()
        directories = self._directories()
        self.daemon_set = DaemonSet(
            f"{name}-daemon-set",
            metadata=ObjectMetaArgs(name=NAME, namespace=args.namespace, labels=self._labels),
            spec=DaemonSetSpecArgs(
                selector=LabelSelectorArgs(match_labels={labels.COMPONENT: NAME}),
                template=self._template(account.metadata.name, config.metadata.name, directories),
            ),
            opts=pulumi.ResourceOptions(
                parent=self,
                depends_on=[*args.after, account, config, *(directory.claim for directory in directories.values())],
            ),
        )
        self.register_outputs({})

    def _config(self) -> ConfigMap:
        args = self._args
        source = Source(experiment=args.experiment, logs=shipping.PODS_LOGS, kept=_KEPT_AT)
        text = json.dumps(shipping.configuration(source, args.destination or Files(directory=_FILES_AT)), indent=1)
        # Another configuration is another object, so that pods with it are started.
        digest = hashlib.sha256(text.encode()).hexdigest()[:10]
        return ConfigMap(
            f"{self._name}-config",
            metadata=ObjectMetaArgs(name=f"{NAME}-{digest}", namespace=args.namespace, labels=self._labels),
            data={_CONFIG: text},  # JSON is YAML too
            immutable=True,
            opts=self._child,
        )

    def _directories(self) -> dict[str, NodeDirectory]:
        """Return the directories of the node, by where the collector sees them."""
        namespace = names.object_name(self._args.experiment)
        found = {
            shipping.PODS_LOGS: self._directory("pods", shipping.PODS_LOGS, read_only=True),
            _KEPT_AT: self._directory("kept", f"{shipping.KEPT}/{namespace}", read_only=False),
        }
        if self._args.destination is None:
            found[_FILES_AT] = self._directory("files", f"{shipping.FILES}/{namespace}", read_only=False)
        return found

    def _directory(self, what: str, path: str, *, read_only: bool) -> NodeDirectory:
        return NodeDirectory(
            f"{self._name}-{what}",
            NodeDirectoryArgs(
                called=names.directory_name(self._args.experiment, f"{NAME}-{what}"),
                namespace=self._args.namespace,
                path=path,
                read_only=read_only,
                labels=self._labels,
            ),
            self._child,
        )

    def _template(
        self, account: pulumi.Input[str], config: pulumi.Input[str], directories: dict[str, NodeDirectory]
    ) -> PodTemplateSpecArgs:
        mounts = {at: f"node-{number}" for number, at in enumerate(directories)}
        return PodTemplateSpecArgs(
            metadata=ObjectMetaArgs(labels=self._labels),
            spec=PodSpecArgs(
                service_account_name=account,
                automount_service_account_token=False,
                enable_service_links=False,
                security_context=PodSecurityContextArgs(
                    run_as_user=0, run_as_group=0, seccomp_profile=SeccompProfileArgs(type="RuntimeDefault")
                ),
                tolerations=[TolerationArgs(operator="Exists")],
                affinity=_on(self._args.nodes),
                containers=[_collector(self._args.image, mounts)],
                volumes=[
                    VolumeArgs(name="config", config_map=ConfigMapVolumeSourceArgs(name=config)),
                    *(directories[at].mounted_as(volume) for at, volume in mounts.items()),
                ],
            ),
        )


def _collector(image: str, mounts: dict[str, str]) -> ContainerArgs:
    memory = addons()[NAME].memory_mib * _MIB
    healthy = HTTPGetActionArgs(path="/", port=HEALTH_PORT)
    return ContainerArgs(
        name="collector",
        image=image,
        image_pull_policy="IfNotPresent",
        args=[f"--config={_CONFIG_AT}/{_CONFIG}", f"--feature-gates={','.join(shipping.FEATURES)}"],
        env=[
            EnvVarArgs(name="AWS_EC2_METADATA_DISABLED", value="true"),  # never the node's own rights
            EnvVarArgs(name="GOMEMLIMIT", value=str(round(memory * _GO_SHARE))),
            _field("NODE_NAME", "spec.nodeName"),
            _field("POD_IP", "status.podIP"),
        ],
        ports=[ContainerPortArgs(name="health", container_port=HEALTH_PORT)],
        resources=resources(NAME),
        # It is ready when it reads: what comes after it then loses nothing.
        readiness_probe=ProbeArgs(http_get=healthy, period_seconds=2, timeout_seconds=5),
        liveness_probe=ProbeArgs(
            http_get=healthy, initial_delay_seconds=30, period_seconds=20, timeout_seconds=15, failure_threshold=6
        ),
        security_context=security.container(),
        termination_message_policy="FallbackToLogsOnError",
        volume_mounts=[
            VolumeMountArgs(name="config", mount_path=_CONFIG_AT, read_only=True),
            *(
                VolumeMountArgs(name=volume, mount_path=at, read_only=True if at == shipping.PODS_LOGS else None)
                for at, volume in mounts.items()
            ),
        ],
    )


def _on(groups: Sequence[Placing]) -> AffinityArgs:
    """Return the affinity to nodes of any of the groups: on a cluster that was given, others are not ours."""
    terms = [
        NodeSelectorTermArgs(
            match_expressions=[
                NodeSelectorRequirementArgs(key=key, operator="In", values=[value])
                for key, value in group.selector.items()
            ]
        )
        for group in groups
    ]
    return AffinityArgs(
        node_affinity=NodeAffinityArgs(
            required_during_scheduling_ignored_during_execution=NodeSelectorArgs(node_selector_terms=terms)
        )
    )


def _field(name: str, path: str) -> EnvVarArgs:
    return EnvVarArgs(
        name=name, value_from=EnvVarSourceArgs(field_ref=ObjectFieldSelectorArgs(api_version="v1", field_path=path))
    )
