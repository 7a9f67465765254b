"""What keeps a namespace of ours to itself: who may talk to its pods, to whom they may, and how much there may be."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pulumi
from pulumi_kubernetes.core.v1 import (
    LimitRange,
    LimitRangeItemArgs,
    LimitRangeSpecArgs,
    ResourceQuota,
    ResourceQuotaSpecArgs,
)
from pulumi_kubernetes.meta.v1 import LabelSelectorArgs, ObjectMetaArgs
from pulumi_kubernetes.networking.v1 import (
    IPBlockArgs,
    NetworkPolicy,
    NetworkPolicyEgressRuleArgs,
    NetworkPolicyIngressRuleArgs,
    NetworkPolicyPeerArgs,
    NetworkPolicyPortArgs,
    NetworkPolicySpecArgs,
)

from experiment.reach import DNS_PORT, POD_IDENTITY

# Of a pod that asks for nothing, as a person may start one to look around; where there is a quota it would be refused.
_ASKED_FOR = {"cpu": "10m", "memory": "16Mi"}


@dataclass(frozen=True, kw_only=True)
class Way:
    """A way out of the namespace, or into it from anywhere.

    Attributes:
        called: of its policy.
        pods: labels of those who have it; none for all pods.
        ports: TCP ports that they may reach.
        rights: whether they may ask EKS's agent for their rights in AWS.
        inwards: the TCP port at which anybody may reach them instead; None for a way out.
    """

    called: str
    pods: Mapping[str, str] = field(default_factory=dict)
    ports: Sequence[int] = ()
    rights: bool = False
    inwards: int | None = None


@dataclass(frozen=True, kw_only=True)
class BoundaryArgs:
    """Of which namespace.

    Attributes:
        namespace: its name.
        labels: of all that is made.
        ways: besides names and each other, which all pods have.
        quota: hard limits; none if nothing is limited.
    """

    namespace: pulumi.Input[str]
    labels: Mapping[str, str]
    ways: Sequence[Way]
    quota: Mapping[str, str] = field(default_factory=dict)


class Boundary(pulumi.ComponentResource):
    """Network policies that close a namespace but for what its pods need, and a quota.

    Pods of one namespace reach each other at any port: the stages of a split choose theirs when they start. What the
    kubelet asks a pod of its own node is no policy's matter.
    """

    def __init__(self, name: str, args: BoundaryArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("splitbed:index:Boundary", name, None, opts)
        self._name, self._args = name, args
        self._child = pulumi.ResourceOptions(parent=self)
        within = [NetworkPolicyPeerArgs(pod_selector=LabelSelectorArgs())]
        self._policy("closed", {}, ingress=[], egress=[])
        self._policy(
            "within",
            {},
            ingress=[NetworkPolicyIngressRuleArgs(from_=within)],
            egress=[NetworkPolicyEgressRuleArgs(to=within)],
        )
        self._policy("names", {}, egress=[NetworkPolicyEgressRuleArgs(ports=_ports([DNS_PORT], "UDP", "TCP"))])
        for way in args.ways:
            if way.inwards is None:
                self._policy(way.called, way.pods, egress=_out(way))
            else:
                arrives = NetworkPolicyIngressRuleArgs(ports=_ports([way.inwards], "TCP"))
                self._policy(way.called, way.pods, ingress=[arrives])
        if args.quota:
            self._limits(args.quota)
        self.register_outputs({})

    def _policy(
        self,
        called: str,
        pods: Mapping[str, str],
        *,
        ingress: Sequence[NetworkPolicyIngressRuleArgs] | None = None,
        egress: Sequence[NetworkPolicyEgressRuleArgs] | None = None,
    ) -> None:
        directions = {"Ingress": ingress, "Egress": egress}
        NetworkPolicy(
            f"{self._name}-{called}",
            metadata=self._meta(called),
            spec=NetworkPolicySpecArgs(
                pod_selector=LabelSelectorArgs(match_labels=dict(pods) or None),
                policy_types=[direction for direction, rules in directions.items() if rules is not None],
                ingress=list(ingress) if ingress else None,
                egress=list(egress) if egress else None,
            ),
            opts=self._child,
        )

    def _limits(self, hard: Mapping[str, str]) -> None:
        ResourceQuota(
            f"{self._name}-quota",
            # Not awaited: it is there at once, and its use is counted later.
            metadata=self._meta("experiment", annotations={"pulumi.com/skipAwait": "true"}),
            spec=ResourceQuotaSpecArgs(hard=dict(hard)),
            opts=self._child,
        )
        LimitRange(
            f"{self._name}-defaults",
            metadata=self._meta("experiment"),
            spec=LimitRangeSpecArgs(limits=[LimitRangeItemArgs(type="Container", default_request=_ASKED_FOR)]),
            opts=self._child,
        )

    def _meta(self, called: str, annotations: Mapping[str, str] | None = None) -> ObjectMetaArgs:
        return ObjectMetaArgs(
            name=called, namespace=self._args.namespace, labels=dict(self._args.labels), annotations=annotations
        )


def _out(way: Way) -> list[NetworkPolicyEgressRuleArgs]:
    rules = [NetworkPolicyEgressRuleArgs(ports=_ports(way.ports, "TCP"))] if way.ports else []
    if way.rights:
        address, port = POD_IDENTITY
        agent = NetworkPolicyPeerArgs(ip_block=IPBlockArgs(cidr=address))
        rules.append(NetworkPolicyEgressRuleArgs(to=[agent], ports=_ports([port], "TCP")))
    return rules


def _ports(numbers: Sequence[int], *protocols: str) -> list[NetworkPolicyPortArgs]:
    return [NetworkPolicyPortArgs(port=number, protocol=protocol) for number in numbers for protocol in protocols]
