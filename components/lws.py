"""The LeaderWorkerSet controller, from its own chart."""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import pulumi
from pulumi_kubernetes.core.v1 import ConfigMap
from pulumi_kubernetes.helm.v4 import Chart
from pulumi_kubernetes.meta.v1 import ObjectMetaArgs

from components import labels
from components.placing import spelt_tolerations
from experiment import versions
from experiment.images import split_tag
from experiment.lws import InstallLws
from experiment.nodes import Placing
from experiment.placement import CONTROLLER

NAMESPACE = "lws-system"
WEBHOOK_PORT = 9443
"""Where the API server asks the manager about every set and pod of its."""
RELEASE = "lws"
GATE = "splitbed-controller"
"""A ConfigMap that goes before the controller does: whoever still needs the controller has the gate kept."""
_KNOWN_EVERYWHERE_S = 3  # after a pod is ready, every kube-proxy and API server knows the way to it


@dataclass(frozen=True, kw_only=True)
class LwsControllerArgs:
    """What to install and where it runs."""

    experiment: str
    namespace: pulumi.Input[str]
    install: InstallLws
    nodes: Placing
    gated: bool
    """Whether other stacks can have it kept: where it is deleted by itself, and not with its cluster."""
    after: Sequence[pulumi.Resource] = ()
    """What must be there before it: nodes of our own."""


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
            opts=pulumi.ResourceOptions(parent=self, depends_on=list(args.after), transforms=[ready_with_webhook]),
        )
        if args.gated:
            ConfigMap(
                f"{name}-gate",
                metadata=ObjectMetaArgs(
                    name=GATE, namespace=args.namespace, labels=labels.of(args.experiment, "lws-gate")
                ),
                data={"installed-by": args.experiment},
                immutable=True,
                opts=pulumi.ResourceOptions(parent=self, depends_on=[self.chart]),
            )
        self.register_outputs({})


def ready_with_webhook(args: pulumi.ResourceTransformArgs) -> pulumi.ResourceTransformResult | None:
    """Let the chart be there when its webhook answers: before that no LeaderWorkerSet is admitted.

    The manager answers the chart's readiness probe while it still waits for its webhook's certificate, so that probe
    only tells that it has started, which makes the kubelet look for the certificate; ready it is when the webhook's
    port is open. The Deployment is available a little later. That is known sooner, and is more, than what Pulumi
    waits for by itself at the webhook's Service: ten seconds without a change of its endpoints.
    """
    if args.type_ == "kubernetes:apps/v1:Deployment":
        props: dict[str, Any] = deepcopy(dict(args.props))
        spec = props["spec"]
        spec["minReadySeconds"] = _KNOWN_EVERYWHERE_S
        for container in spec["template"]["spec"]["containers"]:
            container["startupProbe"] = {**container["readinessProbe"], "periodSeconds": 1, "failureThreshold": 120}
            container["readinessProbe"] = {"tcpSocket": {"port": "webhook-server"}, "periodSeconds": 1}
        return pulumi.ResourceTransformResult(props, args.opts)
    if args.type_ == "kubernetes:core/v1:Service":
        props = deepcopy(dict(args.props))
        props["metadata"].setdefault("annotations", {})["pulumi.com/skipAwait"] = "true"
        return pulumi.ResourceTransformResult(props, args.opts)
    return None


def values(image: str, nodes: Placing) -> Mapping[str, Any]:
    """Return the chart's values: one manager, its image pinned, its request trimmed, on the given nodes."""
    repository, tag = split_tag(image)
    return {
        "replicaCount": 1,
        "image": {"manager": {"repository": repository, "tag": tag, "pullPolicy": "IfNotPresent"}},
        "podSecurityContext": {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}},
        "resources": {"requests": CONTROLLER.quantities()},
        "nodeSelector": dict(nodes.selector),
        "tolerations": spelt_tolerations(nodes.tolerations),
    }
