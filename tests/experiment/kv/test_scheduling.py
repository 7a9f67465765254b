import pytest

from experiment.errors import SplitbedError
from experiment.kv import scheduling


def test_a_batch_grows_with_the_ranks_and_there_is_one_for_each_stage() -> None:
    split = scheduling.cpu(max_model_len=4096, pipeline=2, tensor=3)
    assert split.max_num_batched_tokens == 2048 * 6
    assert split.tokens_in_flight == 2048 * 6 * 2


def test_few_short_requests_make_a_batch_smaller() -> None:
    assert scheduling.cpu(max_model_len=1024, max_num_seqs=1).max_num_batched_tokens == 1024


def test_a_video_must_fit_a_batch_unless_one_is_given() -> None:
    video = 32 * (70 + 8)
    assert scheduling.cpu(max_model_len=4096, multimodal_tokens=video).max_num_batched_tokens == 2496
    assert scheduling.cpu(max_model_len=4096, pipeline=2, multimodal_tokens=video).max_num_batched_tokens == 4096
    given = scheduling.cpu(max_model_len=4096, multimodal_tokens=video, max_num_batched_tokens=512)
    assert given.max_num_batched_tokens == 512


def test_a_batch_of_fewer_tokens_than_requests_is_refused() -> None:
    with pytest.raises(SplitbedError, match="64 is less than max-num-seqs 128"):
        scheduling.cpu(max_model_len=4096, max_num_batched_tokens=64, max_num_seqs=128)
    assert scheduling.cpu(max_model_len=4096, max_num_batched_tokens=64).max_num_seqs == 64


def test_a_prompt_that_may_not_be_cut_must_fit_a_batch() -> None:
    with pytest.raises(SplitbedError, match="without chunked prefill"):
        scheduling.cpu(max_model_len=4096, max_num_batched_tokens=2048, chunked_prefill=False)
    assert scheduling.cpu(max_model_len=4096, chunked_prefill=False).max_num_batched_tokens == 4096
