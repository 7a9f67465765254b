from typing import Any

import pytest

from experiment.labels import GROUP
from experiment.nodes import GPU_TOLERATION, InstanceGroup, NodeGroup, architecture, gpus
from tests.experiment.stacks import refused, settings_of


def test_nodes_of_eks_are_selected_by_our_own_label() -> None:
    nodes = settings_of("gemma-1b-split").nodes
    assert nodes.placing("system").selector == {GROUP: "system"}
    assert nodes.placing("engine").selector == {GROUP: "engine"}
    assert nodes.placing("engine").tolerations == ()


def test_only_pods_for_gpu_nodes_tolerate_their_taint() -> None:
    nodes = settings_of("llama-70b-tp4x1").nodes
    assert nodes.placing("engine").tolerations == (GPU_TOLERATION,)
    assert nodes.placing("system").tolerations == ()
    assert GPU_TOLERATION.model_dump() == {"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}


def test_declared_nodes_are_selected_as_declared() -> None:
    toleration = {"key": "dedicated", "effect": "NoSchedule"}
    nodes = settings_of("rehearsal-split", nodes__engine__tolerations=[toleration]).nodes
    assert nodes.placing("engine").selector == {GROUP: "engine"}
    assert [one.key for one in nodes.placing("engine").tolerations] == ["dedicated"]


def test_what_is_known_of_a_group() -> None:
    declared = NodeGroup(count=1, cpu=1, memory_gib=1, selector={"a": "b"}, gpus=2, architecture="amd64")
    assert (gpus(declared), architecture(declared)) == (2, "amd64")
    made = InstanceGroup(instance="g7e.24xlarge", count=1)
    assert (gpus(made), architecture(made)) == (4, "amd64")
    unknown = InstanceGroup(instance="x0x.large", count=1)
    assert (gpus(unknown), architecture(unknown)) == (0, None)


@pytest.mark.parametrize(
    ("change", "path", "said"),
    [
        ({"nodes__engine__purchase": "reservation"}, "nodes.engine", "purchase: reservation and a reservation's id go"),
        ({"nodes__engine__reservation": "cr-0123456789abcdef0"}, "nodes.engine", "Name both, or neither."),
        ({"nodes__engine__purchase": "spt"}, "nodes.engine.purchase", "Did you mean spot?"),
        ({"nodes__engine__instance": "m7g"}, "nodes.engine.instance", "it has characters that cannot stand there"),
        ({"nodes__engine__disk_gib": 10}, "nodes.engine.disk_gib", "it must be 20 or more"),
        ({"nodes__engine__cpu": 6}, "nodes.engine.cpu", "there is no such key"),
        ({"nodes__engine__instance": None}, "nodes.engine.cpu", "it is missing"),
        ({"nodes__engine": "m7g.2xlarge"}, "nodes.engine", "it is not a mapping of keys to values"),
    ],
)
def test_groups_that_cannot_be(change: dict[str, Any], path: str, said: str) -> None:
    problems = {problem.path: str(problem) for problem in refused("gemma-1b-split", **change)}
    assert said in problems[path]
