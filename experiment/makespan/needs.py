"""What must be there before what, whatever a program says: the edges of the chain that cannot be avoided.

Where an input of one resource is an output of another, the need is in the program itself, and is taken from there. What
stands here is the rest: names are known beforehand, so nothing in the inputs says that nodes need a cluster to join.
What we order besides, for the sake of `destroy` or of a promise of ours (the end date, the first line of a log), is not
here: that is what the ratio measures.
"""

from collections.abc import Mapping, Sequence

from experiment.waits import ADDON, CHART, CLUSTER, COREDNS, NODE_GROUP, VPC_ENDPOINT

SYSTEM, ENGINE = f"{NODE_GROUP} system", f"{NODE_GROUP} engine"
DAEMON_SET = "kubernetes:apps/v1:DaemonSet"
SERVING = "kubernetes:leaderworkerset.x-k8s.io/v1:LeaderWorkerSet"

_NODES: Mapping[str, str] = {
    CLUSTER: "nodes join it",
    f"{ADDON} vpc-cni": "no node is ready without its network, and interfaces made before its settings have no tags",
    "aws:ec2/route:Route": "a node pulls its first image by it",
    "aws:ec2/routeTableAssociation:RouteTableAssociation": "a node pulls its first image by it",
    VPC_ENDPOINT: "a node pulls its first image by it",
}
_SYSTEM_PODS = {SYSTEM: "its pods are there"}

NEEDS: Mapping[str, Mapping[str, str]] = {
    "aws:ec2/natGateway:NatGateway": {
        "aws:ec2/internetGateway:InternetGateway": "AWS makes no public gateway in a network without a way out"
    },
    ADDON: {CLUSTER: "it is in there"},
    f"{ADDON} {COREDNS}": _SYSTEM_PODS,
    f"{ADDON} metrics-server": _SYSTEM_PODS,
    SYSTEM: _NODES,
    ENGINE: _NODES,
    "aws:eks/podIdentityAssociation:PodIdentityAssociation": {CLUSTER: "it is in there"},
    CHART: _SYSTEM_PODS,
    f"{DAEMON_SET} nvidia-device-plugin": {ENGINE: "its pods are there"},
    f"{DAEMON_SET} log-shipper": {SYSTEM: "its pods are there", ENGINE: "its pods are there"},
    SERVING: {
        ENGINE: "its pods are there",
        CHART: "its kind is made by it, and its pods by its controller",
        f"{ADDON} {COREDNS}": "pods find their leader, and where weights are, by name",
        f"{DAEMON_SET} nvidia-device-plugin": "without it nobody knows of the GPUs",
    },
}
"""By kind, what it needs and why; what a stack has none of is not needed there."""


def needed(kind: str) -> Sequence[str]:
    """Return the kinds that a kind needs."""
    plain = kind.partition(" ")[0]
    return [*NEEDS.get(kind, {}), *(NEEDS.get(plain, {}) if plain != kind else {})]
