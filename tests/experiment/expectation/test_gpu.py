import pytest

from experiment.catalogue.models import Geometry, model
from experiment.errors import SplitbedError
from experiment.expectation import gpu
from experiment.expectation.parameters import (
    NVLINK_2,
    NVLINK_4,
    NVLINK_RANGE_US,
    PCIE_2,
    PCIE_4,
    PCIE_RANGE_US,
    POST_NVLINK_2,
    POST_NVLINK_4,
    POST_PCIE_4,
)


def llama() -> Geometry:
    found = model("meta-llama/Llama-3.1-70B-Instruct")
    assert found is not None
    return found


def test_one_gpu_has_nothing_to_reduce() -> None:
    alone = gpu.speed(llama(), gpu_name="H100", interconnect="nvlink")
    assert alone.reduce_ms == 0
    assert alone.token_ms == pytest.approx(llama().parameters * 2 / 3350e9 * 1000)


def test_four_gpus_read_in_a_quarter_and_reduce_after_each_layer() -> None:
    one = gpu.speed(llama(), gpu_name="H100", interconnect="nvlink")
    four = gpu.speed(llama(), gpu_name="H100", interconnect="nvlink", tensor=4)
    assert four.memory_ms == pytest.approx(one.memory_ms / 4)
    assert four.reduce_ms == pytest.approx(160 * 9.2 / 1000)
    assert four.tokens_s == pytest.approx(1000 / (four.memory_ms + 1.472))
    assert four.extrapolates


def test_over_pcie_it_is_slower_than_over_nvlink() -> None:
    for tensor in (2, 4):
        bus, link = (gpu.speed(llama(), gpu_name="H100", interconnect=how, tensor=tensor) for how in ("pcie", "nvlink"))
        assert bus.token_ms - link.token_ms == pytest.approx(bus.reduce_ms - link.reduce_ms)
        assert bus.reduce_ms > 2 * link.reduce_ms


def test_the_posts_latencies_lie_in_its_ranges_and_those_that_were_measured_far_below() -> None:
    for low, high, ones in ((*NVLINK_RANGE_US, (POST_NVLINK_2, POST_NVLINK_4)), (*PCIE_RANGE_US, (POST_PCIE_4,))):
        assert all(low <= one.value <= high for one in ones)
    assert all(5 * one.value < NVLINK_RANGE_US[0] for one in (NVLINK_2, NVLINK_4))
    assert all(50 * one.value < PCIE_RANGE_US[0] for one in (PCIE_2, PCIE_4))
    assert PCIE_2.assumed


def test_an_unknown_gpu_is_refused() -> None:
    with pytest.raises(SplitbedError, match="bandwidth of the GPU T4"):
        gpu.speed(llama(), gpu_name="T4", interconnect="pcie")
