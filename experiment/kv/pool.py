"""The blocks of a server: what one costs on each stage, and how many a request takes."""

from collections.abc import Sequence
from dataclasses import dataclass

from experiment.errors import SplitbedError
from experiment.kv import stages
from experiment.kv.cache import KvCache
from experiment.kv.groups import Group, groups
from experiment.kv.layers import Layers
from experiment.kv.scheduling import Scheduling


@dataclass(frozen=True, kw_only=True)
class Pool:
    """The blocks that all groups of layers draw from.

    Attributes:
        groups: the groups of the whole model.
        unit_bytes: bytes of one block on each stage.
        scheduling: what the scheduler is allowed.
    """

    groups: tuple[Group, ...]
    unit_bytes: tuple[int, ...]
    scheduling: Scheduling

    def blocks(self, length: int) -> int:
        """Return the blocks of one request of this length in tokens, over all groups, empty ones of a stage too."""
        return sum(group.blocks(length, self.scheduling.tokens_in_flight) for group in self.groups)

    def longest(self, blocks: int, limit: int) -> int:
        """Return the longest request in tokens, up to `limit`, that so many blocks hold; 0 if none."""
        shortest, beyond = 0, limit + 1
        while beyond - shortest > 1:
            middle = (shortest + beyond) // 2
            if self.blocks(middle) <= blocks:
                shortest = middle
            else:
                beyond = middle
        return shortest

    def bytes_for(self, length: int) -> int:
        """Return the fewest bytes a rank must be given so that every stage accepts requests of this length."""
        return (self.blocks(length) + 1) * max(self.unit_bytes)

    def cache(self, kv_bytes: int, max_model_len: int) -> KvCache:
        """Return what the engine makes of so many bytes in each rank, and of a longest request in tokens."""
        needed = self.blocks(max_model_len)
        # The engine asks one stage after the other, and the first refusal is the one that is read.
        refusing = [
            stage for stage, unit in enumerate(self.unit_bytes) if kv_bytes <= unit or needed * unit > kv_bytes - unit
        ]
        stage = refusing[0] if refusing else self.unit_bytes.index(max(self.unit_bytes))
        unit = self.unit_bytes[stage]
        blocks = kv_bytes // max(self.unit_bytes)
        concurrency = blocks / needed
        return KvCache(
            kv_bytes=kv_bytes,
            max_model_len=max_model_len,
            fits=not refusing,
            stage=stage,
            unit_bytes=unit,
            needed_bytes=needed * unit,
            available_bytes=kv_bytes - unit,
            estimated_max_len=self.longest(kv_bytes // unit - 1, max_model_len) if refusing else None,
            blocks=blocks,
            blocks_per_request=needed,
            tokens=None if refusing else int(concurrency * max_model_len),
            concurrency=None if refusing else concurrency,
            longest_max_len=self.longest(blocks - 1, max_model_len),
            smallest_kv_bytes=self.bytes_for(max_model_len),
            max_num_batched_tokens=self.scheduling.max_num_batched_tokens,
            tokens_in_flight=self.scheduling.tokens_in_flight,
            stage_unit_bytes=self.unit_bytes,
        )


def pool(
    layers: Layers,
    scheduling: Scheduling,
    *,
    pipeline: int,
    tensor: int,
    element_bytes: int,
    block_tokens: int,
    hybrid: bool = True,
    partition: Sequence[int] | None = None,
) -> Pool:
    """Return the blocks of a server.

    Args:
        layers: the model's layers in order.
        scheduling: what the scheduler is allowed.
        pipeline: number of stages.
        tensor: tensor-parallel ranks of each stage.
        element_bytes: bytes of one number in the cache.
        block_tokens: tokens of a block of full attention, before pages are made equal.
        hybrid: False with `--disable-hybrid-kv-cache-manager`.
        partition: layers of each stage, if `VLLM_PP_LAYER_PARTITION` is set.

    Raises:
        SplitbedError: the engine cannot lay the model out like this; the message says why.
    """
    dealt = groups(layers, tensor=tensor, element_bytes=element_bytes, block_tokens=block_tokens, hybrid=hybrid)
    units = tuple(
        max(group.bytes_on(stage) for group in dealt) for stage in stages.ranges(len(layers), pipeline, partition)
    )
    if 0 in units:
        raise SplitbedError(
            f"Stage {units.index(0)} of {pipeline} holds no layer with a KV cache of its own.", "Choose fewer stages."
        )
    return Pool(groups=dealt, unit_bytes=units, scheduling=scheduling)
