"""The EKS add-ons, each pinned, in the order in which nodes need them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pulumi
import pulumi_aws as aws

from experiment import labels


@dataclass(frozen=True, kw_only=True)
class AddonsArgs:
    """For which cluster, in which versions."""

    cluster_name: str
    versions: Mapping[str, str | None]
    """By add-on. None, which only a preview gets to see, is EKS's default on the day."""
    after: Sequence[pulumi.Resource]
    """What must be there before them, and goes after them."""
    tags: Mapping[str, str]


class Addons(pulumi.ComponentResource):
    """Some add-ons of a cluster.

    Deleting one leaves what it runs alone (`preserve`): that goes with the cluster, and until then the nodes that are
    taken away still have their network.
    """

    def __init__(self, name: str, args: AddonsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("splitbed:index:Addons", name, None, opts)
        self.by_name: Mapping[str, pulumi.Resource] = {
            addon: aws.eks.Addon(
                f"{name}-{addon}",
                addon_name=addon,
                cluster_name=args.cluster_name,
                addon_version=version,
                configuration_values=configuration(addon, args.tags),
                preserve=True,
                resolve_conflicts_on_create="OVERWRITE",
                resolve_conflicts_on_update="OVERWRITE",
                tags=args.tags,
                opts=pulumi.ResourceOptions(parent=self, depends_on=list(args.after)),
            )
            for addon, version in args.versions.items()
        }
        self.register_outputs({})


def configuration(addon: str, tags: Mapping[str, str]) -> str | None:
    """Return the configuration of an add-on as JSON, none for its defaults.

    Args:
        addon: its name.
        tags: of the network interfaces that vpc-cni makes; they reach only those that it makes afterwards.
    """
    match addon:
        case "vpc-cni":
            # Without the first, network policies would be written and not kept.
            return json.dumps({"enableNetworkPolicy": "true", "env": {"ADDITIONAL_ENI_TAGS": json.dumps(dict(tags))}})
        case "coredns" | "metrics-server":
            # What works on an engine's node takes cores from what is measured.
            return json.dumps({"nodeSelector": {labels.GROUP: "system"}})
        case _:
            return None
