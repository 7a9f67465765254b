"""A directory that every node has, as a volume: it is in the state, and pods mount a claim and no host path."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import pulumi
from pulumi_kubernetes.core.v1 import (
    HostPathVolumeSourceArgs,
    NodeSelectorArgs,
    NodeSelectorRequirementArgs,
    NodeSelectorTermArgs,
    PersistentVolume,
    PersistentVolumeClaim,
    PersistentVolumeClaimSpecArgs,
    PersistentVolumeClaimVolumeSourceArgs,
    PersistentVolumeSpecArgs,
    VolumeArgs,
    VolumeNodeAffinityArgs,
    VolumeResourceRequirementsArgs,
)
from pulumi_kubernetes.meta.v1 import ObjectMetaArgs

# A directory has no size of its own; the claim must merely ask for what the volume says it has.
_NOMINAL = "1Gi"


@dataclass(frozen=True, kw_only=True)
class NodeDirectoryArgs:
    """Which directory, for whose pods.

    Attributes:
        called: of the volume and of its claim.
        namespace: of the claim.
        path: on the node, of whichever node a pod is on.
        read_only: whether pods may only read it; then it must be there, and else it is made.
        labels: of both.
        nodes: labels of the nodes that have it; none for all nodes.
    """

    called: str
    namespace: pulumi.Input[str]
    path: str
    read_only: bool
    labels: Mapping[str, str]
    nodes: Mapping[str, str] = field(default_factory=dict)


class NodeDirectory(pulumi.ComponentResource):
    """A volume without a node of its own, and the claim by which pods on all nodes mount their node's directory.

    What is in the directory outlives both.
    """

    def __init__(self, name: str, args: NodeDirectoryArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("splitbed:index:NodeDirectory", name, None, opts)
        self._args = args
        access: Literal["ReadOnlyMany", "ReadWriteMany"] = "ReadOnlyMany" if args.read_only else "ReadWriteMany"
        kind: Literal["Directory", "DirectoryOrCreate"] = "Directory" if args.read_only else "DirectoryOrCreate"
        volume = PersistentVolume(
            f"{name}-volume",
            metadata=ObjectMetaArgs(name=args.called, labels=dict(args.labels)),
            spec=PersistentVolumeSpecArgs(
                access_modes=[access],
                capacity={"storage": _NOMINAL},
                host_path=HostPathVolumeSourceArgs(path=args.path, type=kind),
                node_affinity=_affinity(args.nodes),
                persistent_volume_reclaim_policy="Retain",
                volume_mode="Filesystem",
            ),
            opts=pulumi.ResourceOptions(parent=self),
        )
        self.claim = PersistentVolumeClaim(
            f"{name}-claim",
            metadata=ObjectMetaArgs(name=args.called, namespace=args.namespace, labels=dict(args.labels)),
            spec=PersistentVolumeClaimSpecArgs(
                access_modes=[access],
                resources=VolumeResourceRequirementsArgs(requests={"storage": _NOMINAL}),
                storage_class_name="",  # else the cluster's default class would make a volume of its own
                volume_name=volume.metadata.name,
                volume_mode="Filesystem",
            ),
            opts=pulumi.ResourceOptions(parent=self, depends_on=[volume]),
        )
        self.register_outputs({})

    def mounted_as(self, volume: str) -> VolumeArgs:
        """Return the volume of a pod."""
        source = PersistentVolumeClaimVolumeSourceArgs(
            claim_name=self.claim.metadata.name, read_only=True if self._args.read_only else None
        )
        return VolumeArgs(name=volume, persistent_volume_claim=source)


def _affinity(nodes: Mapping[str, str]) -> VolumeNodeAffinityArgs | None:
    if not nodes:
        return None
    labelled = [
        NodeSelectorRequirementArgs(key=key, operator="In", values=[value]) for key, value in sorted(nodes.items())
    ]
    return VolumeNodeAffinityArgs(
        required=NodeSelectorArgs(node_selector_terms=[NodeSelectorTermArgs(match_expressions=labelled)])
    )
