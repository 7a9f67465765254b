"""Labels by which our objects find one another, and people find our objects."""

EXPERIMENT = "splitbed.dev/experiment"
COMPONENT = "app.kubernetes.io/component"
LWS_NAME = "leaderworkerset.sigs.k8s.io/name"
LWS_GROUP = "leaderworkerset.sigs.k8s.io/group-index"
LWS_WORKER = "leaderworkerset.sigs.k8s.io/worker-index"
HOSTNAME = "kubernetes.io/hostname"


def of(experiment: str, component: str) -> dict[str, str]:
    """Return the labels of one part of an experiment."""
    return {
        "app.kubernetes.io/name": "splitbed",
        "app.kubernetes.io/managed-by": "pulumi",
        COMPONENT: component,
        EXPERIMENT: experiment,
    }
