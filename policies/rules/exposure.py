"""Nothing answers the whole world."""

from collections.abc import Iterator, Mapping
from typing import Any

from experiment.cidr import is_nearly_the_world
from policies.inside import entries
from policies.rule import Rule
from policies.seen import CLUSTER_COMPONENT, UNKNOWN, Seen

_WORLD = ["0.0.0.0/0"]  # what EKS takes where no range is named

_LOAD_BALANCERS = (
    "aws:alb/loadBalancer:",
    "aws:applicationloadbalancing/loadBalancer:",
    "aws:elasticloadbalancing/loadBalancer:",
    "aws:elasticloadbalancingv2/loadBalancer:",
    "aws:elb/loadBalancer:",
    "aws:lb/loadBalancer:",
)


def _open(seen: Seen) -> Iterator[str]:
    match seen.type:
        case seen_type if seen_type == CLUSTER_COMPONENT:
            if seen.props:
                yield from _endpoint(seen.props)
        case "aws:eks/cluster:Cluster":
            endpoint = seen.props.get("vpcConfig")
            if endpoint is not UNKNOWN:
                yield from _endpoint(endpoint if isinstance(endpoint, Mapping) else {})
        case "aws:ec2/securityGroup:SecurityGroup":
            for rule in entries(seen.props.get("ingress")):
                yield from _entrance(rule)
        case "aws:ec2/securityGroupRule:SecurityGroupRule":
            if seen.props.get("type") == "ingress":
                yield from _entrance(seen.props)
        case "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule":
            yield from _entrance(
                {"cidrBlocks": [seen.props.get("cidrIpv4")], "ipv6CidrBlocks": [seen.props.get("cidrIpv6")]}
            )
        case _:
            return


def _endpoint(props: Mapping[str, Any]) -> Iterator[str]:
    # EKS's own default is a public endpoint that answers everybody.
    if props.get("endpointPublicAccess", True) is False:
        return
    ranges = props.get("publicAccessCidrs") or _WORLD
    for found in _nearly_the_world(ranges):
        yield (
            f"The cluster's API answers {found}. Name the ranges you work from in cluster.endpoint.cidrs, "
            "or take kind: private."
        )


def _entrance(rule: Any) -> Iterator[str]:
    if isinstance(rule, Mapping):
        for kind in ("cidrBlocks", "ipv6CidrBlocks"):
            for found in _nearly_the_world(rule.get(kind)):
                yield f"It lets {found} in. Name the ranges that need to come in."


def _nearly_the_world(ranges: Any) -> list[str]:
    return [each for each in entries(ranges) if isinstance(each, str) and _keeps_nobody_out(each)]


def _keeps_nobody_out(text: str) -> bool:
    try:
        return is_nearly_the_world(text)
    except ValueError:  # AWS refuses it
        return False


def _balancers(seen: Seen) -> Iterator[str]:
    remedy = "Reach the experiment by kubectl port-forward."
    if seen.type.startswith(_LOAD_BALANCERS):
        yield f"It is a load balancer, which costs and answers from outside. {remedy}"
    elif seen.type.startswith("kubernetes:networking.k8s.io/") and seen.type.endswith(":Ingress"):
        yield f"A controller makes a load balancer of an Ingress, of which the state knows nothing. {remedy}"
    elif seen.type == "kubernetes:core/v1:Service":
        spec = seen.props.get("spec")
        if isinstance(spec, Mapping) and spec.get("type") == "LoadBalancer":
            yield (
                f"A Service of type LoadBalancer has AWS make one of which the state knows nothing, and which may stay "
                f"after destroy. Take ClusterIP. {remedy}"
            )


CLOSED_TO_THE_WORLD = Rule(
    "closed-to-the-world",
    "No endpoint and no security group lets (nearly) the whole world in.",
    _open,
)
NO_LOAD_BALANCER = Rule(
    "no-load-balancer",
    "Nothing makes a load balancer, neither by AWS's API nor by a controller inside the cluster.",
    _balancers,
)
