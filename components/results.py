"""Where records are kept: a directory of a node, as a volume that the state knows."""

from dataclasses import dataclass

import pulumi
from pulumi_kubernetes.core.v1 import (
    HostPathVolumeSourceArgs,
    PersistentVolume,
    PersistentVolumeClaim,
    PersistentVolumeClaimSpecArgs,
    PersistentVolumeSpecArgs,
    VolumeResourceRequirementsArgs,
)
from pulumi_kubernetes.meta.v1 import ObjectMetaArgs

from components import labels
from experiment import names

# A directory has no size of its own; the claim must merely ask for what the volume says it has.
_NOMINAL = "1Gi"


@dataclass(frozen=True, kw_only=True)
class ResultsArgs:
    """Which directory, for which namespace."""

    experiment: str
    namespace: pulumi.Input[str]
    path: str


class Results(pulumi.ComponentResource):
    """A static volume and its claim; destroying them leaves the files."""

    def __init__(self, name: str, args: ResultsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("splitbed:index:Results", name, None, opts)
        own = labels.of(args.experiment, "results")
        volume_name = names.volume_name(args.experiment, args.path)
        volume = PersistentVolume(
            f"{name}-volume",
            metadata=ObjectMetaArgs(name=volume_name, labels=own),
            spec=PersistentVolumeSpecArgs(
                access_modes=["ReadWriteOnce"],
                capacity={"storage": _NOMINAL},
                host_path=HostPathVolumeSourceArgs(path=args.path, type="DirectoryOrCreate"),
                persistent_volume_reclaim_policy="Retain",
                volume_mode="Filesystem",
            ),
            opts=pulumi.ResourceOptions(parent=self),
        )
        claim = PersistentVolumeClaim(
            f"{name}-claim",
            metadata=ObjectMetaArgs(name=volume_name, namespace=args.namespace, labels=own),
            spec=PersistentVolumeClaimSpecArgs(
                access_modes=["ReadWriteOnce"],
                resources=VolumeResourceRequirementsArgs(requests={"storage": _NOMINAL}),
                storage_class_name="",  # else the cluster's default class would make a volume of its own
                volume_name=volume.metadata.name,
                volume_mode="Filesystem",
            ),
            opts=pulumi.ResourceOptions(parent=self, depends_on=[volume]),
        )
        self.claim_name: pulumi.Output[str] = claim.metadata.name
        self.register_outputs({"claim_name": self.claim_name})
