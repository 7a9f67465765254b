import pytest

from experiment.catalogue.models import Geometry, model
from experiment.errors import SplitbedError
from experiment.expectation import gpu
from experiment.expectation.parameters import NVLINK_2, NVLINK_4, NVLINK_RANGE_US, PCIE_2, PCIE_4, PCIE_RANGE_US


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
    assert four.reduce_ms == 16.0
    assert four.tokens_s == pytest.approx(1000 / (four.memory_ms + 16))
    assert four.extrapolates


def test_over_pcie_four_are_slower_than_two() -> None:
    two, four = (gpu.speed(llama(), gpu_name="H100", interconnect="pcie", tensor=tensor) for tensor in (2, 4))
    assert four.token_ms > two.token_ms


def test_latencies_lie_in_the_gpu_posts_ranges() -> None:
    for low, high, ones in ((*NVLINK_RANGE_US, (NVLINK_2, NVLINK_4)), (*PCIE_RANGE_US, (PCIE_2, PCIE_4))):
        assert all(low <= one.value <= high for one in ones)
    assert PCIE_2.assumed


def test_an_unknown_gpu_is_refused() -> None:
    with pytest.raises(SplitbedError, match="bandwidth of the GPU T4"):
        gpu.speed(llama(), gpu_name="T4", interconnect="pcie")
