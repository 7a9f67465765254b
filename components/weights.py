"""The weights of a model before its engine starts: a volume, and the init container that fills it or looks at it."""

import base64
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass

import pulumi
from pulumi_kubernetes.core.v1 import (
    ConfigMap,
    ConfigMapVolumeSourceArgs,
    ContainerArgs,
    EmptyDirVolumeSourceArgs,
    EnvVarArgs,
    EnvVarSourceArgs,
    ResourceRequirementsArgs,
    SecretKeySelectorArgs,
    VolumeArgs,
    VolumeMountArgs,
)
from pulumi_kubernetes.meta.v1 import ObjectMetaArgs

from components import hub_token, labels, security
from components.archive import weights_zip
from components.node_directory import NodeDirectory, NodeDirectoryArgs
from experiment import fetching, names, token
from experiment.cluster import Cluster
from experiment.engine import Engine, Model
from experiment.fetching import MOUNT
from experiment.nodes import Placing

CONTAINER = "weights"
"""The init container's name: no other has the token, or the pod's rights in AWS."""

_VOLUME, _CODE_VOLUME = "weights", "weights-code"
_CODE_AT, _CODE = "/splitbed-weights", "weights.zip"


@dataclass(frozen=True, kw_only=True)
class FetchedWeights:
    """What the pods of an engine need for it.

    Attributes:
        container: runs to its end before every other container of the pod.
        volumes: of the pod.
        mount: the engine's own, which it may only read.
        rights: whether the pod has rights in AWS, for that container alone.
        after: what must be there first.
    """

    container: ContainerArgs
    volumes: Sequence[VolumeArgs]
    mount: VolumeMountArgs
    rights: bool
    after: Sequence[pulumi.Resource]


@dataclass(frozen=True, kw_only=True)
class WeightsArgs:
    """Which model's, for whose pods on which nodes."""

    experiment: str
    namespace: pulumi.Input[str]
    cluster: Cluster
    model: Model
    engine: Engine
    """Its variables tell how the hub is reached, and its resources are the init container's too, who come first."""
    image: str
    nodes: Placing
    rights: Sequence[pulumi.Resource] = ()
    """What gives the pods a right in AWS."""


class Weights(pulumi.ComponentResource):
    """A directory of each node, or of each pod, with the model's files in it.

    Of a directory that the node keeps, one volume and one claim serve all nodes: each mounts its own directory of that
    path, and nodes that are still to come are known by their group's label.

    Attributes:
        fetched: what the engine's pods need.
    """

    def __init__(self, name: str, args: WeightsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("splitbed:index:Weights", name, None, opts)
        self._name, self._args = name, args
        self._labels = labels.of(args.experiment, "weights")
        self._child = pulumi.ResourceOptions(parent=self)
        self._after: list[pulumi.Resource] = list(args.rights)
        volumes = [self._volume(), self._code()]
        self.fetched = FetchedWeights(
            container=self._container(),
            volumes=volumes,
            mount=VolumeMountArgs(name=_VOLUME, mount_path=MOUNT, read_only=True),
            rights=bool(args.rights),
            after=self._after,
        )
        self.register_outputs({})

    def _volume(self) -> VolumeArgs:
        path, args = fetching.kept_at(self._args.model), self._args
        if path is None:
            return VolumeArgs(name=_VOLUME, empty_dir=EmptyDirVolumeSourceArgs())
        there = self._given
        # Of a volume neither path nor nodes can be changed: others make another one.
        told = json.dumps([path, there, sorted(args.nodes.selector.items())])
        directory = NodeDirectory(
            f"{self._name}-directory",
            NodeDirectoryArgs(
                called=names.directory_name(
                    args.experiment, f"weights-{hashlib.sha256(told.encode()).hexdigest()[:7]}"
                ),
                namespace=args.namespace,
                path=path,
                read_only=there,
                labels=self._labels,
                nodes=args.nodes.selector,
            ),
            self._child,
        )
        self._after.append(directory.claim)
        return directory.mounted_as(_VOLUME)

    @property
    def _given(self) -> bool:
        """Whether somebody else has filled the directory, and it is only looked at."""
        return self._args.model.weights.source == "directory"

    def _code(self) -> VolumeArgs:
        code = weights_zip()
        config_map = ConfigMap(
            f"{self._name}-code",
            metadata=ObjectMetaArgs(
                name=f"weights-{hashlib.sha256(code).hexdigest()[:7]}",
                namespace=self._args.namespace,
                labels=self._labels,
            ),
            binary_data={_CODE: base64.b64encode(code).decode()},
            immutable=True,
            opts=self._child,
        )
        self._after.append(config_map)
        return VolumeArgs(name=_CODE_VOLUME, config_map=ConfigMapVolumeSourceArgs(name=config_map.metadata.name))

    def _container(self) -> ContainerArgs:
        args = self._args
        quantities = args.engine.resources.quantities()
        variables = {
            "HOME": "/tmp",  # noqa: S108  the pod's own
            "PYTHONPATH": f"{_CODE_AT}/{_CODE}",
            "PYTHONUNBUFFERED": "1",
            **fetching.passed_on(args.engine.env),
        }
        return ContainerArgs(
            name=CONTAINER,
            image=args.image,
            image_pull_policy="IfNotPresent",
            command=["python3", "-P", "-m", "components.pod.weights"],
            args=list(fetching.order(args.model, args.cluster)),
            env=[
                *(EnvVarArgs(name=name, value=value) for name, value in sorted(variables.items())),
                *self._token(),
            ],
            resources=ResourceRequirementsArgs(requests=quantities, limits=quantities),
            security_context=security.container(),
            termination_message_policy="FallbackToLogsOnError",
            volume_mounts=[
                security.scratch()[1],
                VolumeMountArgs(name=_CODE_VOLUME, mount_path=_CODE_AT, read_only=True),
                VolumeMountArgs(name=_VOLUME, mount_path=MOUNT, read_only=True if self._given else None),
            ],
        )

    def _token(self) -> list[EnvVarArgs]:
        """Return the variable with the token, by the plain name of its Secret: what is secret stays out of the pod."""
        secret = self._args.model.token_secret
        if secret is None or token.is_arn(secret) or self._args.model.weights.source != "hub":
            return []
        kept = hub_token.kept(self._name, self._args.experiment, self._args.namespace, secret, self)
        self._after += kept.after
        reference = SecretKeySelectorArgs(name=kept.secret_name, key=token.KEY)
        return [EnvVarArgs(name=token.VARIABLE, value_from=EnvVarSourceArgs(secret_key_ref=reference))]
