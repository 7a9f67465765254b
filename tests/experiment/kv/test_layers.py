import pytest

from experiment.catalogue.models import model
from experiment.errors import SplitbedError
from experiment.kv import layers
from experiment.kv.layers import LayerCache


def test_gemma_4_has_narrow_full_layers_between_wide_sliding_ones() -> None:
    geometry = model("google/gemma-4-12B-it")
    assert geometry is not None
    kept = layers.of(geometry)
    assert len(kept) == 48
    assert kept[0] == LayerCache(kv_heads=8, head_dim=256, window=1024)
    assert kept[5] == kept[47] == LayerCache(kv_heads=1, head_dim=512)
    assert sum(layer.window is None for layer in kept) == 8


@pytest.mark.parametrize(("tensor", "heads"), [(1, 8), (2, 4), (8, 1), (16, 1), (32, 1)])
def test_heads_are_divided_and_then_copied(tensor: int, heads: int) -> None:
    layer = LayerCache(kv_heads=8, head_dim=128)
    assert layer.heads_on_a_rank(tensor) == heads
    assert layer.token_bytes(tensor, 2) == 2 * heads * 128 * 2


@pytest.mark.parametrize("tensor", [3, 5, 12])
def test_ranks_that_do_not_divide_heads_are_refused(tensor: int) -> None:
    with pytest.raises(SplitbedError, match=f"{tensor} tensor-parallel ranks and 8 KV heads"):
        LayerCache(kv_heads=8, head_dim=128).heads_on_a_rank(tensor)


@pytest.mark.parametrize(("heads", "dim", "window"), [(0, 1, None), (1, 0, None), (1, 1, 0)])
def test_nothing_is_smaller_than_one(heads: int, dim: int, window: int | None) -> None:
    with pytest.raises(SplitbedError, match="at least 1"):
        LayerCache(kv_heads=heads, head_dim=dim, window=window)
