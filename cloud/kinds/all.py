"""All kinds, in the order in which they can go (pitfalls A12): what runs, what runs it, what it hung on, who it was."""

from cloud.kinds import compute, eks, logs, network, roles, schedules, storage
from cloud.kinds.kind import Kind

DELETION = (
    network.LOAD_BALANCER,
    network.CLASSIC_LOAD_BALANCER,
    eks.NODE_GROUP,
    compute.SCALING_GROUP,
    compute.INSTANCE,
    compute.VOLUME,
    eks.ASSOCIATION,
    eks.ADDON,
    eks.CLUSTER,
    network.ENDPOINT,
    network.NAT_GATEWAY,
    network.ADDRESS,
    compute.INTERFACE,
    network.SECURITY_GROUP,
    network.SUBNET,
    network.ROUTE_TABLE,
    network.INTERNET_GATEWAY,
    network.VPC,
    logs.LOG_GROUP,
    compute.TEMPLATE,
    compute.PLACEMENT_GROUP,
    schedules.SCHEDULE,
    schedules.GROUP,
    storage.QUEUE,
    roles.ROLE,
    storage.BUCKET,
)
"""The Job goes with its cluster."""

_FIRST = (compute.INSTANCE, eks.CLUSTER, schedules.GROUP)
SURVEY: tuple[Kind, ...] = (*_FIRST, *(kind for kind in DELETION if kind not in _FIRST))
"""The order in which they are looked for: what others are found by comes first."""

KINDS = {kind.name: kind for kind in DELETION}
