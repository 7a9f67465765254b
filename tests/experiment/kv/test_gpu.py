import dataclasses
import json

import pytest

from experiment.catalogue.instances import instance_type
from experiment.catalogue.models import Geometry, model
from experiment.catalogue.weights import stage_weights_gib
from experiment.errors import SplitbedError
from experiment.kv import gpu, layers, scheduling
from experiment.kv.gpu import GpuKvCache


def geometry(name: str) -> Geometry:
    found = model(name)
    assert found is not None
    return found


def llama_70b(instance: str, tensor: int, dtype: str = "bfloat16", max_model_len: int = 8192) -> GpuKvCache:
    llama = geometry("meta-llama/Llama-3.1-70B-Instruct")
    return gpu.kv_cache(
        layers.of(llama),
        gpu_memory_mib=instance_type(instance).gpu_memory_mib,
        stage_weights_gib=stage_weights_gib(llama, dtype, [llama.layers]),
        tensor=tensor,
        max_model_len=max_model_len,
    )


def test_an_8b_model_on_one_gpu_is_left_with_what_vllm_said() -> None:
    llama = geometry("meta-llama/Llama-3.1-8B-Instruct")
    found = gpu.kv_cache(
        layers.of(llama),
        gpu_memory_mib=81920,
        stage_weights_gib=stage_weights_gib(llama, "bfloat16", [32]),
        max_model_len=8192,
        utilization=0.9,
    )
    assert found.requested_gib == pytest.approx(71.29, abs=0.02)  # vllm-project/vllm pull request 10511
    assert found.weights_gib == pytest.approx(14.96, abs=0.01)
    # That version had no CUDA graphs in its profile, which are assumed here.
    assert found.kv_gib + gpu.GRAPHS.value == pytest.approx(53.29, abs=0.05)


@pytest.mark.parametrize(
    ("instance", "tensor", "dtype", "low", "high"),
    [
        ("p5.48xlarge", 4, "bfloat16", 400_000, 500_000),
        ("p5.48xlarge", 2, "bfloat16", 5_000, 15_000),
        ("g7e.24xlarge", 4, "bfloat16", 550_000, 700_000),
        ("g7e.24xlarge", 2, "bfloat16", 80_000, 130_000),
        ("g6e.12xlarge", 4, "fp8", 200_000, 270_000),
    ],
)
def test_what_a_70b_model_leaves(instance: str, tensor: int, dtype: str, low: int, high: int) -> None:
    found = llama_70b(instance, tensor, dtype)
    assert found.cache is not None
    assert found.cache.tokens is not None
    assert low < found.cache.tokens < high
    assert found.estimated


def test_two_h100_refuse_the_context_that_the_gpu_post_leaves_at_its_default() -> None:
    found = llama_70b("p5.48xlarge", 2, max_model_len=131_072)
    assert not found.fits
    assert "131,072 tokens need 20.0 GiB of KV cache" in found.sentence()
    assert llama_70b("p5.48xlarge", 4, max_model_len=131_072).fits


def test_two_l40s_have_no_room_for_a_70b_model_in_bfloat16() -> None:
    found = llama_70b("g6e.12xlarge", 2)
    assert found.cache is None
    assert not found.fits
    assert found.kv_gib < 0
    assert "leave nothing of the 40.7 GiB of each GPU" in found.sentence()


def test_every_number_has_a_source_and_what_nobody_measured_says_so() -> None:
    found = llama_70b("p5.48xlarge", 4)
    assert all(one.source for one in found.assumptions)
    assert [one.name for one in found.assumptions if one.assumed] == ["CUDA graphs"]
    json.dumps(dataclasses.asdict(found))


@pytest.mark.parametrize(
    ("memory_gib", "name", "tokens"),
    [(178, "B200", 16384), (79.2, "H100", 8192), (79.2, "A100-SXM4", 2048), (44.3, "L40S", 2048)],
)
def test_batches_go_by_the_size_of_the_gpu(memory_gib: float, name: str, tokens: int) -> None:
    settled = scheduling.gpu(max_model_len=8192, memory_gib=memory_gib, name=name)
    assert settled.max_num_batched_tokens == tokens
    assert settled.concurrent_batches == 2
    assert not scheduling.gpu(max_model_len=8, memory_gib=memory_gib, async_scheduling=False).concurrent_batches > 1


@pytest.mark.parametrize("utilization", [0.0, 1.01, -1.0])
def test_a_share_beyond_all_is_refused(utilization: float) -> None:
    with pytest.raises(SplitbedError, match="more than 0 and at most 1"):
        gpu.kv_cache(
            [layers.LayerCache(kv_heads=1, head_dim=64)],
            gpu_memory_mib=81920,
            stage_weights_gib=[1.0],
            max_model_len=100,
            utilization=utilization,
        )
