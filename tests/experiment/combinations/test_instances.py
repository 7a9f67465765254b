from typing import Any

import pytest

from tests.experiment.stacks import refused

AMD64 = {"amd64": "docker.io/vllm/vllm-openai-cpu:v0.31.0"}


@pytest.mark.parametrize(
    ("change", "path", "found", "remedy"),
    [
        (
            {"engine__image": AMD64},
            "engine.image", "an image for amd64 alone, with m7g.2xlarge (arm64)", "Name one for arm64",
        ),
        (
            {"engine__image": "docker.io/vllm/vllm-openai-cpu:v0.31.0-x86_64"},
            "engine.image", "docker.io/vllm/vllm-openai-cpu:v0.31.0-x86_64 with m7g.2xlarge", "Name an image for arm64",
        ),
        (
            {"engine__image": {"arm64": "docker.io/vllm/vllm-openai-cpu:v0.31.0-amd64"}},
            "engine.image.arm64", "docker.io/vllm/vllm-openai-cpu:v0.31.0-amd64 with m7g.2xlarge", "Name an image for",
        ),
        (
            {"nodes__system__instance": "m7i.large"},
            "nodes.system.instance", "m7i.large (amd64) with engine nodes of arm64", "Take system nodes of arm64",
        ),
        ({"nodes__system__instance": "t4g.large"}, "nodes.system.instance", '"t4g.large"', "m7g.large"),
        ({"nodes__engine__instance": "m7g.3xlarge"}, "nodes.engine.instance", '"m7g.3xlarge"', "Did you mean"),
    ],
)  # fmt: skip
def test_what_an_instance_type_is_not(change: dict[str, Any], path: str, found: str, remedy: str) -> None:
    (problem,) = refused("gemma-1b-split", **change)
    assert (problem.path, problem.found) == (path, found)
    assert remedy in problem.remedy


@pytest.mark.parametrize(
    ("stack", "image", "remedy"),
    [
        ("llama-70b-tp4x1", "docker.io/vllm/vllm-openai-cpu:v0.31.0", "Take docker.io/vllm/vllm-openai:v0.31.0."),
        ("gemma-1b-single", "docker.io/vllm/vllm-openai:v0.31.0", "Take docker.io/vllm/vllm-openai-cpu:v0.31.0."),
    ],
)
def test_an_image_for_the_other_device_is_refused(stack: str, image: str, remedy: str) -> None:
    (problem,) = refused(stack, engine__image=image)
    assert (problem.path, problem.remedy) == ("engine.image", remedy)


def test_a_system_group_of_gpus_is_refused() -> None:
    (problem,) = refused("llama-70b-tp4x1", nodes__system__instance="g6e.xlarge")
    assert problem.path == "nodes.system.instance"
    assert "1 GPU(s) would be paid for" in problem.why
    assert "m7i.large" in problem.remedy


def test_gpu_nodes_without_a_system_group_are_told_what_is_missing() -> None:
    (problem,) = refused("llama-70b-tp4x1", nodes__system=None)
    assert str(problem).startswith("nodes.system: it is missing. Add it: nodes of the controller, the add-ons")


def test_an_image_for_each_architecture_needs_to_know_which_the_declared_nodes_have() -> None:
    both = {"arm64": "registry.example/engine:1", **AMD64}
    (problem,) = refused("rehearsal-split", engine__image=both)
    assert problem.path == "nodes.engine.architecture"
    assert refused("rehearsal-split", engine__image=both, nodes__engine__architecture="arm64") == []


def test_an_image_that_names_no_architecture_may_be_for_all() -> None:
    assert refused("gemma-1b-split", engine__image={"arm64": "docker.io/vllm/vllm-openai-cpu:v0.31.0"}) == []


def test_more_tensor_parts_than_gpus() -> None:
    (problem,) = refused("llama-70b-tp4x1", topology__tensor=8)
    assert (problem.path, problem.found) == ("topology.tensor", "8 with g7e.24xlarge")
    assert "a node has 4" in problem.why


def test_more_copies_than_gpus() -> None:
    (problem,) = refused("llama-70b-tp2x2", topology__count=3)
    assert problem.path == "topology"
    assert problem.why == "3 pods of 2 GPU(s) each are asked for, and the 1 node(s) of 4 hold 2"


def test_the_stages_of_a_split_each_need_gpus_of_a_node() -> None:
    split = {"kind": "split", "pipeline": 2, "tensor": 4}
    assert refused("llama-70b-tp4x1", topology=split, nodes__engine__count=2) == []


@pytest.mark.parametrize("topology", [{"kind": "single", "tensor": 2}, {"kind": "split", "pipeline": 2, "tensor": 2}])
def test_two_ranks_in_a_pod_of_one_numa_node_end_at_start(topology: dict[str, Any]) -> None:
    # The 1B post: "These instances have one, so asking for two ranks in one pod fails at startup".
    (problem,) = refused("gemma-1b-split", topology=topology)
    assert (problem.path, problem.found) == ("topology.tensor", "2 with m7g.2xlarge")
    assert "Not enough allowed NUMA nodes" in problem.why
    assert "topology.kind: split" in problem.remedy


def test_where_nobody_knows_the_numa_nodes_nothing_is_refused() -> None:
    amd64 = {"nodes__engine__instance": "m7i.8xlarge", "nodes__system__instance": "m7i.large"}
    assert refused("gemma-1b-split", topology={"kind": "single", "tensor": 2}, **amd64) == []
