"""Where pods land, what stays Pending and why: kube-scheduler's rules that we use, as arithmetic; no cluster is asked.

The rules are those of kube-scheduler 1.34 (`k8s.io/kubernetes/pkg/scheduler` v1.34.4) with its default plugins, for
pods that ask for CPU, memory and `nvidia.com/gpu`, select nodes by label, tolerate taints and keep apart from other
pods. Volumes, host ports, topology spread, images on nodes and other affinities are not modelled.
"""

from experiment.schedule.foretell import Fate, Forecast, foretell
from experiment.schedule.objects import (
    AntiAffinity,
    LabelSelector,
    Node,
    Pod,
    Preference,
    Requirement,
    Taint,
    Toleration,
)
from experiment.schedule.outcome import Assignment, NodeUse, Pending, Reason
from experiment.schedule.requests import Request, effective
from experiment.schedule.scheduler import Choice, schedule

__all__ = [
    "AntiAffinity",
    "Assignment",
    "Choice",
    "Fate",
    "Forecast",
    "LabelSelector",
    "Node",
    "NodeUse",
    "Pending",
    "Pod",
    "Preference",
    "Reason",
    "Request",
    "Requirement",
    "Taint",
    "Toleration",
    "effective",
    "foretell",
    "schedule",
]
