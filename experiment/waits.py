"""How long AWS and Kubernetes commonly take to make and to delete what a stack has.

Nobody promises these seconds. Some are medians of what people published: what Terraform prints behind "Creation
complete after" and "Destruction complete after" in logs on GitHub, read on 2026-12-01. They are `reported`, by so many
logs of so many seconds. The others are assumed, and say so.
"""

from dataclasses import dataclass
from typing import Literal

Basis = Literal["measured", "scaled", "reported", "assumed"]
"""Measured in an experiment of ours or of a post; scaled from that; reported by others; assumed."""

CLUSTER, NODE_GROUP, ADDON = "aws:eks/cluster:Cluster", "aws:eks/nodeGroup:NodeGroup", "aws:eks/addon:Addon"
VPC, SUBNET, VPC_ENDPOINT = "aws:ec2/vpc:Vpc", "aws:ec2/subnet:Subnet", "aws:ec2/vpcEndpoint:VpcEndpoint"
ROLE = "aws:iam/role:Role"
CHART = "kubernetes:helm.sh/v4:Chart"
COREDNS = "coredns"


@dataclass(frozen=True)
class Wait:
    """So many seconds, and whose word they are."""

    seconds: float
    basis: Basis = "assumed"
    source: str = "no measurement at hand"


@dataclass(frozen=True)
class Waits:
    """What one kind of resource takes to come and to go."""

    create: Wait
    delete: Wait


def _reported(seconds: float, source: str) -> Wait:
    return Wait(seconds, "reported", source)


NONE = Wait(0, source="nothing is waited for")
CALL = Waits(Wait(2), Wait(2))
"""One call of an API of AWS's and its answer, as most of its resources are."""

OBJECT = Waits(Wait(1), Wait(1))
"""An object of Kubernetes that nobody waits for."""

_KNOWN: dict[str, Waits] = {
    CLUSTER: Waits(
        _reported(606, "15 public logs of 402 to 683 s, among them terraform-aws-eks#3218"),
        _reported(204, "9 public logs of 69 to 522 s"),
    ),
    NODE_GROUP: Waits(
        _reported(119, "6 public logs of 88 to 130 s, among them terraform-provisioning#46"),
        _reported(379, "5 public logs of 252 to 501 s"),
    ),
    ADDON: Waits(_reported(30, "4 public logs of vpc-cni, 24 to 35 s"), Wait(10)),
    f"{ADDON} {COREDNS}": Waits(_reported(15, "8 public logs of 14 to 56 s"), Wait(10)),
    f"{ADDON} metrics-server": Waits(_reported(45, "one public log"), Wait(10)),
    "aws:ec2/natGateway:NatGateway": Waits(
        _reported(97, "8 public logs of 85 to 112 s"), _reported(65, "5 public logs of 42 to 94 s")
    ),
    VPC_ENDPOINT: Waits(_reported(122, "one public log of an interface"), Wait(30)),
    f"{VPC_ENDPOINT} Gateway": Waits(_reported(6, "5 public logs, all of 6 s"), Wait(6)),
    VPC: Waits(
        _reported(12, "4 public logs with DNS host names, 12 to 15 s"), _reported(1, "3 public logs of 1 to 3 s")
    ),
    SUBNET: Waits(_reported(1, "10 public logs of 0 to 12 s"), Wait(1)),
    "aws:sqs/queue:Queue": Waits(_reported(26, "3 public logs of 25 and 26 s"), Wait(2)),
    "aws:ec2/internetGateway:InternetGateway": Waits(Wait(2), Wait(10)),
    ROLE: Waits(Wait(10), Wait(2)),
    "aws:s3/bucket:Bucket": Waits(Wait(4), Wait(2)),
    "kubernetes:apps/v1:DaemonSet": Waits(Wait(15, source="to pull an image of some 100 MB"), Wait(1)),
    CHART: Waits(Wait(30, source="to pull the controller's image, and for its webhook's certificate"), Wait(5)),
}


def waits(kind: str) -> Waits:
    """Return how long a resource takes.

    Args:
        kind: its type's token, followed by what sets it apart from others of the type, if anything does.
    """
    for known in (kind, kind.partition(" ")[0]):
        if known in _KNOWN:
            return _KNOWN[known]
    if kind.startswith("aws:"):
        return CALL
    return OBJECT if kind.startswith("kubernetes:") else Waits(NONE, NONE)
