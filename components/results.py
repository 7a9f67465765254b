"""Where records are kept: a directory of a node, or a volume that the cluster provides; the state knows either."""

from dataclasses import dataclass

import pulumi
from pulumi_kubernetes.core.v1 import (
    HostPathVolumeSourceArgs,
    PersistentVolume,
    PersistentVolumeClaim,
    PersistentVolumeClaimSpecArgs,
    PersistentVolumeClaimVolumeSourceArgs,
    PersistentVolumeSpecArgs,
    VolumeArgs,
    VolumeResourceRequirementsArgs,
)
from pulumi_kubernetes.meta.v1 import ObjectMetaArgs

from components import labels
from components.records import VOLUME, Records
from experiment import names
from experiment.benchmark import ClaimedResults, LocalResults

# A directory has no size of its own; the claim must merely ask for what the volume says it has.
_NOMINAL = "1Gi"


@dataclass(frozen=True, kw_only=True)
class ResultsArgs:
    """What kind of place, for which namespace."""

    experiment: str
    namespace: pulumi.Input[str]
    results: LocalResults | ClaimedResults


class Results(pulumi.ComponentResource):
    """A claim. Of a directory of a node the files outlive it; what the cluster provided goes with it."""

    def __init__(self, name: str, args: ResultsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("splitbed:index:Results", name, None, opts)
        self._name, self._args = name, args
        self._labels = labels.of(args.experiment, "results")
        claim = (
            self._of_directory(args.results) if isinstance(args.results, LocalResults) else self._provided(args.results)
        )
        provided = isinstance(args.results, ClaimedResults)
        source = PersistentVolumeClaimVolumeSourceArgs(claim_name=claim.metadata.name)
        self.records = Records(
            volume=VolumeArgs(name=VOLUME, persistent_volume_claim=source), owned=provided, printed=provided
        )
        self.register_outputs({})

    def _of_directory(self, local: LocalResults) -> PersistentVolumeClaim:
        volume_name = names.volume_name(self._args.experiment, local.path)
        volume = PersistentVolume(
            f"{self._name}-volume",
            metadata=ObjectMetaArgs(name=volume_name, labels=self._labels),
            spec=PersistentVolumeSpecArgs(
                access_modes=["ReadWriteOnce"],
                capacity={"storage": _NOMINAL},
                host_path=HostPathVolumeSourceArgs(path=local.path, type="DirectoryOrCreate"),
                persistent_volume_reclaim_policy="Retain",
                volume_mode="Filesystem",
            ),
            opts=pulumi.ResourceOptions(parent=self),
        )
        return PersistentVolumeClaim(
            f"{self._name}-claim",
            metadata=ObjectMetaArgs(name=volume_name, namespace=self._args.namespace, labels=self._labels),
            spec=PersistentVolumeClaimSpecArgs(
                access_modes=["ReadWriteOnce"],
                resources=VolumeResourceRequirementsArgs(requests={"storage": _NOMINAL}),
                storage_class_name="",  # else the cluster's default class would make a volume of its own
                volume_name=volume.metadata.name,
                volume_mode="Filesystem",
            ),
            opts=pulumi.ResourceOptions(parent=self, depends_on=[volume]),
        )

    def _provided(self, claimed: ClaimedResults) -> PersistentVolumeClaim:
        return PersistentVolumeClaim(
            f"{self._name}-claim",
            metadata=ObjectMetaArgs(
                name=names.volume_name(self._args.experiment, claimed.model_dump_json()),
                namespace=self._args.namespace,
                labels=self._labels,
                # Many classes bind a claim only when a pod uses it, and the benchmark's comes after this.
                annotations={"pulumi.com/skipAwait": "true"},
            ),
            spec=PersistentVolumeClaimSpecArgs(
                access_modes=["ReadWriteOnce"],
                resources=VolumeResourceRequirementsArgs(requests={"storage": f"{claimed.size_gib}Gi"}),
                storage_class_name=claimed.storage_class,
                volume_mode="Filesystem",
            ),
            opts=pulumi.ResourceOptions(parent=self),
        )
