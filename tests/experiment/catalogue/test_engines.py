"""Names of metrics as the pinned version has them."""

from importlib.resources import files

import pytest

from experiment.catalogue.engines import engine
from experiment.errors import SplitbedError


def test_the_pinned_version_has_a_record_of_its_flags() -> None:
    assert files("experiment").joinpath(f"data/{engine().flags}.json").is_file()


@pytest.mark.parametrize(
    ("written", "now"),
    [
        ("vllm:num_requests_running", "vllm:num_requests_running"),
        ("vllm:num_waiting_seqs", "vllm:num_requests_waiting"),  # as the GPU post has it
        ("vllm:time_per_output_token_seconds_bucket", "vllm:inter_token_latency_seconds_bucket"),
        ("vllm:gpu_cache_usage_perc", "vllm:kv_cache_usage_perc"),
        ("vllm:generation_tokens_total", "vllm:generation_tokens_total"),
        ("vllm:iteration_tokens_total_count", "vllm:iteration_tokens_total_count"),
    ],
)
def test_a_metric_is_found_by_the_name_of_any_version(written: str, now: str) -> None:
    assert engine().metric(written) == now


def test_what_a_version_no_longer_tells_is_said() -> None:
    with pytest.raises(SplitbedError, match="no longer tells vllm:num_requests_swapped"):
        engine().metric("vllm:num_requests_swapped")


def test_a_misspelt_metric_is_answered_with_the_nearest() -> None:
    with pytest.raises(SplitbedError, match="vllm:num_request_running") as caught:
        engine().metric("vllm:num_request_running")

    assert caught.value.remedy == "Did you mean vllm:num_requests_running?"


def test_an_unknown_version_is_answered_with_the_known_ones() -> None:
    with pytest.raises(SplitbedError, match=r"0\.1\.0") as caught:
        engine("0.1.0")

    assert "0.31.0" in caught.value.remedy
