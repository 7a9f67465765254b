"""Why a node group does not get its nodes, of what EKS says about it: a sentence, and what helps."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Cause:
    """What is in the way.

    Attributes:
        said: in a person's words, without a full stop.
        remedy: what puts it right, as the subject of a sentence.
    """

    said: str
    remedy: str


_KNOWN: tuple[tuple[tuple[str, ...], Cause], ...] = (
    (
        ("InsufficientInstanceCapacity", "do not have sufficient", "UnfulfillableCapacity", "capacity-not-available"),
        Cause(
            "AWS has no such instance free in this zone at the moment",
            "Another zone first in cluster.zones, another instance type, or a later hour",
        ),
    ),
    (
        (
            "VcpuLimitExceeded",
            "vCPU limit",
            "InstanceLimitExceeded",
            "MaxSpotInstanceCountExceeded",
            "reached your quota",
        ),
        Cause(
            "the account may not have so many vCPUs at once",
            "More of the quota that `splitbed preflight` names, or taking instances down elsewhere,",
        ),
    ),
    (
        ("ReservationCapacityExceeded", "capacity reservation"),
        Cause("the capacity reservation has not as many free", "Another nodes.engine.reservation or a smaller count"),
    ),
    (
        ("TagPolicy", "tag policy", "tag policies"),
        Cause(
            "a tag policy of the organisation refuses the tags that instances are born with",
            "Giving the keys and values that it asks for, under tags in the stack's file,",
        ),
    ),
    (
        ("UnauthorizedOperation", "not authorized to", "explicit deny", "AccessDenied"),
        Cause(
            "whoever starts the instances is not allowed to; where an organisation's policy asks for tags at launch, "
            "one is missing or has another value",
            "Giving the tags that the policy asks for, under tags in the stack's file, or the right that AWS names,",
        ),
    ),
    (
        ("not supported in your requested Availability Zone", "Unsupported", "Ec2InstanceTypeDoesNotExist"),
        Cause(
            "this zone does not have the instance type at all",
            "One of the zones that `splitbed preflight` names, first in cluster.zones,",
        ),
    ),
    (
        ("is being validated",),
        Cause("AWS is still checking whether the account may use this region", "Waiting, commonly some minutes,"),
    ),
    (
        ("InsufficientFreeAddresses", "free addresses"),
        Cause("the subnet has no address left", "A larger subnet, or a network of the experiment's own,"),
    ),
    (
        ("NodeCreationFailure", "failed to join"),
        Cause(
            "instances were started, and did not become nodes of the cluster",
            "A way out for the nodes' subnets (cluster.network)",
        ),
    ),
    (
        ("KMS", "Client.InternalError"),
        Cause(
            "the disk's key may not be used by what starts the instances",
            "A grant of the account's default EBS key to the service-linked role AWSServiceRoleForAutoScaling",
        ),
    ),
)


def cause(said: str) -> Cause | None:
    """Return why a group has not its nodes; None if that is nothing that is known here.

    Args:
        said: an issue's code and message, or the error in which a provider hands both on.
    """
    lowered = said.lower()
    return next((known for words, known in _KNOWN if any(word.lower() in lowered for word in words)), None)
