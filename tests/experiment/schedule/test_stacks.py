"""The tracked stacks: whatever the order, nothing waits."""

from collections.abc import Iterable
from dataclasses import replace

import pytest

from experiment.schedule import Pod, foretell
from tests.experiment.schedule.stacks import of
from tests.recording import STACKS

CRITICAL = {"vpc-cni": 2_000_001_000, "kube-proxy": 2_000_001_000, "coredns": 2_000_000_000}


def as_critical(pods: Iterable[Pod]) -> list[Pod]:
    """Give EKS's own add-ons the priority classes that they come with."""
    return [replace(pod, priority=CRITICAL.get(pod.owner, 0)) for pod in pods]


@pytest.mark.parametrize("stack", STACKS)
@pytest.mark.parametrize("priorities", [False, True])
def test_no_order_of_arrival_leaves_anything_pending(stack: str, priorities: bool) -> None:
    drawn = of(stack)
    pods = as_critical(drawn.pods) if priorities else list(drawn.pods)
    forecast = foretell(drawn.nodes, pods)
    assert all(fate.exact for fate in forecast.fates)
    assert forecast.never == forecast.fates
    assert not forecast.pending


def test_the_controllers_whole_core_would_do_it_to_an_engine_on_its_nodes() -> None:
    """As in the 1B post, whose two nodes held everything: with this stack's own add-ons, and 0.4 vCPU of monitoring."""
    drawn = of("gemma-1b-split")
    nodes = [replace(node, labels={}) for node in drawn.nodes if node.name.startswith("engine")]
    pods = [
        replace(pod, selector={})
        for pod in as_critical(drawn.pods)
        if pod.owner != "benchmark" and not (pod.node or "").startswith("system")
    ]
    pods.append(Pod(name="monitoring", owner="monitoring", cpu_millicores=400, memory_mib=400))
    assert not foretell(nodes, pods).sometimes
    greedy = [replace(pod, cpu_millicores=1000) if "controller" in pod.owner else pod for pod in pods]
    forecast = foretell(nodes, greedy)
    waits = {fate.owner: (fate.least, fate.most, len(fate.pods)) for fate in forecast.sometimes}
    # The log shipper evicts nobody: what the engine leaves, controller and monitoring can take from it.
    assert waits == {"engine": (0, 1, 2), "log-shipper": (0, 1, 1)}
    assert forecast.some_wait is False
