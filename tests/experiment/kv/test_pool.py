import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from experiment.errors import SplitbedError
from experiment.kv import cpu
from experiment.kv.layers import LayerCache
from experiment.kv.pool import Pool

KINDS = st.builds(
    LayerCache,
    kv_heads=st.sampled_from([1, 2, 3, 8]),
    head_dim=st.sampled_from([64, 80, 256]),
    window=st.sampled_from([None, 128, 1024]),
)
MODELS = st.lists(KINDS, min_size=1, max_size=4).flatmap(
    lambda kinds: st.lists(st.sampled_from(kinds), min_size=4, max_size=40)
)
FULL = LayerCache(kv_heads=8, head_dim=128)


@st.composite
def pools(draw: st.DrawFn) -> Pool:
    return cpu.pool(draw(MODELS), max_model_len=4096, pipeline=draw(st.integers(1, 4)))


@settings(max_examples=60)
@given(pools(), st.integers(1, 10**9), st.integers(1, 200_000))
def test_the_two_inverses_agree_with_the_verdict(pool: Pool, kv_bytes: int, length: int) -> None:
    cache = pool.cache(kv_bytes, length)
    assert cache.fits == (cache.longest_max_len == length)
    assert cache.fits == (kv_bytes >= cache.smallest_kv_bytes)
    assert pool.cache(cache.smallest_kv_bytes, length).fits
    assert not pool.cache(cache.smallest_kv_bytes - 1, length).fits
    if 0 < cache.longest_max_len < length:
        assert pool.cache(kv_bytes, cache.longest_max_len).fits
        assert not pool.cache(kv_bytes, cache.longest_max_len + 1).fits


def test_the_first_stage_to_refuse_speaks_and_may_propose_what_a_later_one_refuses() -> None:
    pool = cpu.pool([FULL] * 11, max_model_len=3000, pipeline=4, partition=[2, 3, 3, 3])
    cache = pool.cache(20_000_000, 3000)
    assert cache.stage == 0
    assert cache.unit_bytes == min(cache.stage_unit_bytes)
    assert cache.estimated_max_len == 128 * (20_000_000 // cache.unit_bytes - 1)
    assert cache.longest_max_len < cache.estimated_max_len
    assert pool.cache(30_000_000, 3000).stage == 1, "the first of the large ones, when the small one accepts"


def test_bytes_for_no_block_are_said_so() -> None:
    pool = cpu.pool([FULL] * 4, max_model_len=100)
    cache = pool.cache(pool.unit_bytes[0], 100)
    assert not cache.fits
    assert cache.available_bytes == 0
    assert cache.sentence() == "2,097,152 bytes of KV cache leave no block of 2,097,152 bytes to use"


def test_a_stage_without_a_cache_is_refused() -> None:
    with pytest.raises(SplitbedError, match="Stage 1 of 2 holds no layer with a KV cache"):
        cpu.pool([FULL, FULL, None, None], max_model_len=100, pipeline=2)


def test_a_model_without_a_cache_is_refused() -> None:
    with pytest.raises(SplitbedError, match="No layer of the model keeps a KV cache"):
        cpu.pool([None], max_model_len=100)


def test_an_unknown_dtype_is_refused() -> None:
    with pytest.raises(SplitbedError, match="nvfp4 is not known"):
        cpu.pool([FULL], max_model_len=100, dtype="nvfp4")
