"""Layers that share block tables, as `v1/core/kv_cache_utils.py` of vLLM 0.31.0 groups them.

Blocks of all groups come from one pool, so a block costs a stage as much as its most expensive group there.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from experiment.errors import SplitbedError
from experiment.kv.layers import LayerCache, Layers

_KERNEL_BLOCK = 32
"""The CPU kernels take blocks of a multiple of this (`v1/attention/backends/cpu_attn.py`)."""

_PADDING_LIMIT = 1.5
"""Below this ratio of layers the smaller kind is padded to the larger, above it the larger one is cut."""


@dataclass(frozen=True)
class _Page:
    """One layer's part of one block, on one rank; `layer` has that rank's heads only."""

    layer: LayerCache
    tokens: int
    bytes: int


@dataclass(frozen=True, kw_only=True)
class Group:
    """Layers with one block table.

    Attributes:
        layers: indices in the model.
        page_bytes: bytes of each of those layers' part of a block, on one rank.
        block_tokens: tokens that a block holds.
        window: tokens that the layers attend to; None for full attention.
    """

    layers: tuple[int, ...]
    page_bytes: tuple[int, ...]
    block_tokens: int
    window: int | None

    def blocks(self, length: int, tokens_in_flight: int) -> int:
        """Return the blocks that one request of this length in tokens may hold at once.

        A window may begin in the middle of a block, hence one block more.
        """
        if self.window is None:
            return -(-length // self.block_tokens)
        return -(-min(self.window - 1 + tokens_in_flight, length) // self.block_tokens) + 1

    def bytes_on(self, stage: range) -> int:
        """Return the bytes of one block on the stage that holds these layers."""
        return sum(size for layer, size in zip(self.layers, self.page_bytes, strict=True) if layer in stage)


def groups(
    layers: Layers, *, tensor: int = 1, element_bytes: int = 2, block_tokens: int = 128, hybrid: bool = True
) -> tuple[Group, ...]:
    """Return the groups of a whole model; each pipeline stage has its part of every one.

    Args:
        layers: the model's layers in order.
        tensor: tensor-parallel ranks, over which heads are divided.
        element_bytes: bytes of one number in the cache.
        block_tokens: `--block-size`; 128 on a CPU, 16 on a GPU unless given.
        hybrid: whether sliding layers may forget; False with `--disable-hybrid-kv-cache-manager`.

    Raises:
        SplitbedError: no layer has a cache, or the heads cannot be divided.
    """
    pages = {
        index: _page(layer, tensor, element_bytes, block_tokens)
        for index, layer in enumerate(layers)
        if layer is not None
    }
    if not pages:
        raise SplitbedError("No layer of the model keeps a KV cache.", "Give at least one layer with KV heads.")
    windows = {page.layer.window for page in pages.values()}
    if not hybrid and None in windows and len(windows) > 1:
        full = {
            index: _Page(replace(page.layer, window=None), block_tokens, page.bytes * block_tokens // page.tokens)
            for index, page in pages.items()
        }
        return (_group(full, tuple(full)),)
    if len(windows) == 1:
        return (_group(pages, tuple(pages)),)
    return _hybrid(_unified(pages))


def _page(layer: LayerCache, tensor: int, element_bytes: int, block_tokens: int) -> _Page:
    # A sliding layer takes the largest block of the kernels within the given one (attention.py: get_kv_cache_spec).
    tokens = block_tokens if layer.window is None else max(_KERNEL_BLOCK, block_tokens // _KERNEL_BLOCK * _KERNEL_BLOCK)
    mine = replace(layer, kv_heads=layer.heads_on_a_rank(tensor))
    return _Page(mine, tokens, mine.token_bytes(1, element_bytes) * tokens)


def _unified(pages: dict[int, _Page]) -> dict[int, _Page]:
    """Give all pages one size: a smaller one holds more tokens if it divides the largest, and is padded if not."""
    largest = max(page.bytes for page in pages.values())
    return {
        index: _Page(page.layer, page.tokens * (1 if largest % page.bytes else largest // page.bytes), largest)
        for index, page in pages.items()
    }


def _hybrid(pages: dict[int, _Page]) -> tuple[Group, ...]:
    kinds: dict[tuple[LayerCache, int], list[int]] = {}
    for index, page in pages.items():
        kinds.setdefault((page.layer, page.tokens), []).append(index)
    fewest, most = min(map(len, kinds.values())), max(map(len, kinds.values()))
    size = most if most < fewest * _PADDING_LIMIT else fewest
    dealt: list[Group] = []
    for indices in kinds.values():
        count = -(-len(indices) // size)
        # In turn, so that every stage of a pipeline has some of each group.
        dealt += [_group(pages, tuple(indices[first::count])) for first in range(count)]
    return tuple(dealt)


def _group(pages: dict[int, _Page], layers: Sequence[int]) -> Group:
    first = pages[layers[0]]
    return Group(
        layers=tuple(layers),
        page_bytes=tuple(pages[layer].bytes for layer in layers),
        block_tokens=first.tokens,
        window=first.layer.window,
    )
