"""Who gets an interface of the Elastic Fabric Adapter, and whether an image can use it."""

import pytest

from experiment import efa
from tests.experiment.stacks import settings_of

FABRIC = {"nodes__engine__efa": True}


def test_each_pod_of_a_group_over_several_nodes_takes_its_nodes_one_interface() -> None:
    assert settings_of("llama-70b-tp2pp2").efa_per_pod == 0
    assert settings_of("llama-70b-tp2pp2", **FABRIC).efa_per_pod == 1


@pytest.mark.parametrize("stack", ["llama-70b-tp4x1", "llama-70b-tp2x2"])
def test_who_stays_within_a_node_takes_none(stack: str) -> None:
    """Two replicas on one node would fight for its one interface, and none of them would use it."""
    assert settings_of(stack, **FABRIC).efa_per_pod == 0


def test_the_cpu_backend_takes_none() -> None:
    on_cpus = {"nodes__engine__instance": "c7g.16xlarge", **FABRIC}
    assert settings_of("gemma-1b-split", **on_cpus).efa_per_pod == 0


@pytest.mark.parametrize(
    ("image", "lacks"),
    [
        ("docker.io/vllm/vllm-openai:v0.31.0", True),
        ("vllm/vllm-openai@sha256:00", True),
        ("docker.io/vllm/vllm-openai-cpu:v0.31.0", False),
        ("registry.example/vllm-with-efa:v0.31.0", False),
        ("registry.example/novllm/vllm-openai:1", False),
    ],
)
def test_only_of_vllms_own_image_is_it_known(image: str, lacks: bool) -> None:
    assert efa.image_lacks_it(image) is lacks


def test_nccl_says_which_network_it_took() -> None:
    engine = settings_of("llama-70b-tp2pp2", engine__env={"NCCL_DEBUG": "WARN"}).engine
    over_tcp, over_efa = engine.environment("gpu", 2), engine.environment("gpu", 2, fabric=True)
    assert over_efa["FI_PROVIDER"] == "efa"
    assert over_efa["NCCL_DEBUG_SUBSYS"] == "INIT,NET"
    assert over_efa["NCCL_SOCKET_IFNAME"] == "eth0", "by which ranks find one another before the fabric is up"
    assert over_efa["NCCL_DEBUG"] == "WARN", "the stack file has the last word"
    assert not {"FI_PROVIDER", "NCCL_DEBUG_SUBSYS"} & over_tcp.keys()
