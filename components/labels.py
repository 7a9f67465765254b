"""Labels by which our objects find one another, and people find our objects."""

from experiment.labels import (
    COMPONENT,
    END_DATE,
    EXPERIMENT,
    HOSTNAME,
    LWS_GROUP,
    LWS_NAME,
    LWS_WORKER,
    OWNER,
    PURPOSE,
    ROLE,
)

__all__ = [
    "COMPONENT",
    "END_DATE",
    "EXPERIMENT",
    "HOSTNAME",
    "LWS_GROUP",
    "LWS_NAME",
    "LWS_WORKER",
    "OWNER",
    "PURPOSE",
    "ROLE",
    "of",
]


def of(experiment: str, component: str) -> dict[str, str]:
    """Return the labels of one part of an experiment."""
    return {
        "app.kubernetes.io/name": "splitbed",
        "app.kubernetes.io/managed-by": "pulumi",
        COMPONENT: component,
        EXPERIMENT: experiment,
    }
