"""What EventBridge Scheduler is told to do at the end date."""

import json
from datetime import UTC, datetime, timedelta

UPDATE_NODE_GROUP = "arn:{partition}:scheduler:::aws-sdk:eks:updateNodegroupConfig"
"""The universal target that calls EKS's UpdateNodegroupConfig."""

WARNING_BEFORE = timedelta(days=1)
"""How long before the end date its owner is warned."""

TIME_ZONE = "UTC"


def at(moment: datetime) -> str:
    """Return the expression of a one-time schedule in UTC, to the second.

    Raises:
        ValueError: the moment has no time zone.
    """
    if moment.tzinfo is None:
        raise ValueError(f"{moment} has no time zone")
    return f"at({moment.astimezone(UTC):%Y-%m-%dT%H:%M:%S})"


def to_zero(cluster: str, group: str, largest: int) -> str:
    """Return the input by which a node group loses all its nodes.

    The scheduler wants the members of EKS's request with a capital first letter.

    Args:
        cluster: name of the cluster.
        group: name of the node group.
        largest: its largest size, which may not be zero and stays what it was.
    """
    return json.dumps(
        {
            "ClusterName": cluster,
            "NodegroupName": group,
            "ScalingConfig": {"MinSize": 0, "MaxSize": largest, "DesiredSize": 0},
        }
    )


def warning(experiment: str, region: str, end: datetime) -> str:
    """Return the message that is sent a day before the end."""
    return (
        f"The experiment {experiment} in {region} ends at {end.astimezone(UTC):%Y-%m-%d %H:%M} UTC: its nodes are then "
        "taken away. What is not nodes (control plane, gateway, volumes that are kept) goes on costing until "
        f"`pulumi destroy`. To keep the nodes longer: splitbed extend {experiment} DATE."
    )
