"""What an experiment's namespace may hold at most, by the nodes that its stack counts on."""

from experiment.plan.machines import nodes
from experiment.resources import GPU
from experiment.settings import Settings

_TWICE = 2
"""Pods of a set that is replaced, or of a group that is made anew, count until they have ended."""


def quota(settings: Settings) -> dict[str, str]:
    """Return the hard limits: twice what the nodes hold, and no Service that is seen from outside.

    Raises:
        SplitbedError: nothing is known of an instance type.
    """
    there = nodes(settings.nodes)
    gpus = sum(node.gpus for node in there)
    return {
        "pods": str(_TWICE * sum(node.pods for node in there)),
        "requests.cpu": f"{_TWICE * sum(node.cpu_millicores for node in there)}m",
        "requests.memory": f"{_TWICE * sum(node.memory_mib for node in there)}Mi",
        **({f"requests.{GPU}": str(_TWICE * gpus)} if gpus else {}),
        "services.loadbalancers": "0",
        "services.nodeports": "0",
    }
