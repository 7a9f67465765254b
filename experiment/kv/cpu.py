"""The KV cache of vLLM 0.31.0 on a CPU, to the digit.

The rules are those of `v1/core/kv_cache_utils.py: get_kv_cache_configs` of that version; `tests/data/kv` has what its
own functions answered, and what servers printed.
"""

from collections.abc import Sequence

from experiment.kv import scheduling
from experiment.kv.layers import Layers, element_bytes
from experiment.kv.pool import Pool
from experiment.kv.pool import pool as _pool

BLOCK_TOKENS = 128
"""Tokens of a block, unless `--block-size` says otherwise (`platforms/cpu.py: check_and_update_config`)."""


def pool(
    layers: Layers,
    *,
    max_model_len: int,
    pipeline: int = 1,
    tensor: int = 1,
    dtype: str = "bfloat16",
    max_num_batched_tokens: int | None = None,
    max_num_seqs: int | None = None,
    multimodal_tokens: int = 0,
    chunked_prefill: bool = True,
    throughput: bool = False,
    block_tokens: int = BLOCK_TOKENS,
    hybrid: bool = True,
    partition: Sequence[int] | None = None,
) -> Pool:
    """Return the blocks of a CPU server.

    Args:
        layers: the model's layers in order, as `experiment.kv.layers.of` gives them.
        max_model_len: longest request in tokens.
        pipeline: number of stages.
        tensor: tensor-parallel ranks of each stage.
        dtype: of the cache, one of `experiment.kv.layers.ELEMENT_BYTES`: the model's unless `--kv-cache-dtype` is set.
        max_num_batched_tokens: as given to the engine, None for its default.
        max_num_seqs: as given to the engine, None for its default.
        multimodal_tokens: see `experiment.kv.scheduling.cpu`.
        chunked_prefill: False with `--no-enable-chunked-prefill`.
        throughput: True with `--performance-mode throughput`.
        block_tokens: `--block-size`.
        hybrid: False with `--disable-hybrid-kv-cache-manager`.
        partition: layers of each stage, if `VLLM_PP_LAYER_PARTITION` is set.

    Raises:
        SplitbedError: the engine cannot lay the model out like this; the message says why.
    """
    size = element_bytes(dtype)
    return _pool(
        layers,
        scheduling.cpu(
            max_model_len=max_model_len,
            pipeline=pipeline,
            tensor=tensor,
            max_num_batched_tokens=max_num_batched_tokens,
            max_num_seqs=max_num_seqs,
            multimodal_tokens=multimodal_tokens,
            chunked_prefill=chunked_prefill,
            throughput=throughput,
        ),
        pipeline=pipeline,
        tensor=tensor,
        element_bytes=size,
        block_tokens=block_tokens,
        hybrid=hybrid,
        partition=partition,
    )
