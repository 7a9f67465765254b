"""The LeaderWorkerSet controller, from its own chart."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pulumi
from pulumi_kubernetes.helm.v4 import Chart

from components.placing import spelt_tolerations
from experiment import versions
from experiment.images import split_tag
from experiment.lws import InstallLws
from experiment.nodes import NodeGroup
from experiment.placement import CONTROLLER

NAMESPACE = "lws-system"
RELEASE = "lws"


@dataclass(frozen=True, kw_only=True)
class LwsControllerArgs:
    """What to install and where it runs."""

    namespace: pulumi.Input[str]
    install: InstallLws
    nodes: NodeGroup


class LwsController(pulumi.ComponentResource):
    """One controller with its CRDs, on a system node, at a tenth of the core that its chart asks for."""

    def __init__(self, name: str, args: LwsControllerArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("splitbed:index:LwsController", name, None, opts)
        is_address = args.install.chart.startswith("oci://")
        self.chart = Chart(
            f"{name}-chart",
            name=RELEASE,
            namespace=args.namespace,
            chart=args.install.chart,
            version=versions.LWS_VERSION if is_address else None,
            values=values(args.install.image, args.nodes),
            opts=pulumi.ResourceOptions(parent=self),
        )
        self.register_outputs({})


def values(image: str, nodes: NodeGroup) -> Mapping[str, Any]:
    """Return the chart's values: one manager, its image pinned, its request trimmed, on the given nodes."""
    repository, tag = split_tag(image)
    return {
        "replicaCount": 1,
        "image": {"manager": {"repository": repository, "tag": tag, "pullPolicy": "IfNotPresent"}},
        "resources": {"requests": CONTROLLER.quantities()},
        "nodeSelector": dict(nodes.selector),
        "tolerations": spelt_tolerations(nodes.tolerations),
    }
