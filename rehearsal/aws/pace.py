"""How long AWS takes to make and to delete things, and how fast that passes here.

The seconds are assumptions, for nobody promises any: what people commonly see for a small network and cluster. Their
order is what matters to the doubles, that a control plane takes minutes and a role seconds; no figure of ours that a
person is shown comes from them except the makespan, which says so.
"""

import time
from dataclasses import dataclass

_QUICK = (2.0, 2.0)
_SECONDS: dict[str, tuple[float, float]] = {
    "aws:eks/cluster:Cluster": (540.0, 180.0),
    "aws:eks/nodeGroup:NodeGroup": (150.0, 180.0),
    "aws:eks/addon:Addon": (30.0, 10.0),
    "aws:ec2/natGateway:NatGateway": (100.0, 60.0),
    "aws:ec2/vpcEndpoint:VpcEndpoint": (60.0, 60.0),
    "aws:ec2/vpc:Vpc": (12.0, 2.0),
    "aws:ec2/subnet:Subnet": (3.0, 2.0),
    "aws:ec2/internetGateway:InternetGateway": (2.0, 15.0),
    "aws:iam/role:Role": (10.0, 2.0),
    "aws:sqs/queue:Queue": (26.0, 2.0),
    "aws:s3/bucket:Bucket": (4.0, 2.0),
}


def create_s(type_: str) -> float:
    """Return the seconds in which a resource of this type commonly comes to be."""
    return _SECONDS.get(type_, _QUICK)[0]


def delete_s(type_: str) -> float:
    """Return the seconds in which a resource of this type commonly goes."""
    return _SECONDS.get(type_, _QUICK)[1]


@dataclass(frozen=True)
class Pace:
    """Seconds of AWS's as seconds of ours.

    Attributes:
        factor: of its time that passes here; 0 is no waiting at all.
    """

    factor: float = 0.0

    def spend(self, seconds: float) -> None:
        """Let time pass."""
        if self.factor:
            time.sleep(seconds * self.factor)
