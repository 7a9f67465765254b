"""Network policies as Kubernetes means them: traffic that somebody's policy names may pass, if any policy is about it.

https://kubernetes.io/docs/concepts/services-networking/network-policies/
"""

import ipaddress
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class End:
    """One end of a connection: a pod, or an address outside the cluster."""

    namespace: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    address: str = ""


def passes(policies: Sequence[Mapping[str, Any]], sender: End, receiver: End, port: int, protocol: str = "TCP") -> bool:
    """Say whether a connection may be opened: out of the sender's namespace and into the receiver's."""
    return _allowed(policies, sender, receiver, "Egress", port, protocol) and _allowed(
        policies, receiver, sender, "Ingress", port, protocol
    )


def _allowed(
    policies: Sequence[Mapping[str, Any]], one: End, other: End, direction: str, port: int, protocol: str
) -> bool:
    about = [
        policy["spec"]
        for policy in policies
        if one.namespace
        and policy["metadata"]["namespace"] == one.namespace
        and direction in policy["spec"]["policyTypes"]
        and _selects(policy["spec"]["podSelector"], one.labels)
    ]
    if not about:
        return True
    peers = {"Egress": "to", "Ingress": "from"}[direction]
    return any(
        _names(rule.get(peers), one, other) and _opens(rule.get("ports"), port, protocol)
        for spec in about
        for rule in spec.get(direction.lower(), [])
    )


def _selects(selector: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    assert set(selector) <= {"matchLabels"}, "no other selector is known here"
    wanted: Mapping[str, str] = selector.get("matchLabels", {})
    return wanted.items() <= labels.items()


def _names(peers: Sequence[Mapping[str, Any]] | None, one: End, other: End) -> bool:
    if not peers:
        return True
    for peer in peers:
        assert set(peer) <= {"podSelector", "ipBlock"}, "no other peer is known here"
        if "ipBlock" in peer:
            block = ipaddress.ip_network(peer["ipBlock"]["cidr"])
            if other.address and ipaddress.ip_address(other.address) in block:
                return True
        elif other.namespace == one.namespace and _selects(peer["podSelector"], other.labels):
            return True
    return False


def _opens(ports: Sequence[Mapping[str, Any]] | None, port: int, protocol: str) -> bool:
    return not ports or any((one["port"], one["protocol"]) == (port, protocol) for one in ports)
