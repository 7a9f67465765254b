"""The KV cache that GPUs are left with, estimated: only the engine's own profile knows it.

The engine takes a share of each GPU's memory, and gives to the cache what weights, activations and the rest leave of it
(`v1/worker/gpu_worker.py: determine_available_memory` of vLLM 0.31.0).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

from experiment.errors import SplitbedError
from experiment.expectation.parameter import ASSUMED, Parameter
from experiment.kv import scheduling
from experiment.kv.cache import GIB, KvCache
from experiment.kv.layers import Layers, element_bytes
from experiment.kv.pool import pool

BLOCK_TOKENS = 16
"""Tokens of a block unless `--block-size` says otherwise."""

UTILIZATION = 0.92
"""`--gpu-memory-utilization` unless given, in vLLM 0.31.0 and in the GPU post."""

_PROFILES = "vllm-project/vllm pull request 10511: an 8B model on GPUs of 80 GiB, in December 2024"

VISIBLE = Parameter(
    name="memory that a program sees of the nominal",
    value=79.22 / 80,
    unit="of nominal",
    source=f"79.22 of 80 GiB, {_PROFILES}; assumed for others",
)
ACTIVATIONS = Parameter(name="activations at their peak", value=1.26, unit="GiB", source=_PROFILES)
OTHERS_ALONE = Parameter(name="CUDA and libraries, one GPU", value=1.79, unit="GiB", source=_PROFILES)
OTHERS_TOGETHER = Parameter(name="CUDA and libraries, several GPUs", value=3.58, unit="GiB", source=_PROFILES)
GRAPHS = Parameter(name="CUDA graphs", value=1.0, unit="GiB", source=f"{ASSUMED}; the engine profiles them since 0.21")


@dataclass(frozen=True, kw_only=True)
class GpuKvCache:
    """An estimate of what is left for the KV cache on each GPU.

    Attributes:
        requested_gib: what the engine takes of one GPU.
        weights_gib: weights on the GPU that has most of them.
        other_gib: activations, CUDA and its graphs.
        kv_gib: what is left; negative if even the weights do not fit.
        cache: what the engine makes of it; None if nothing is left.
        assumptions: the numbers it stands on.
        estimated: always true.
    """

    requested_gib: float
    weights_gib: float
    other_gib: float
    kv_gib: float
    cache: KvCache | None
    assumptions: tuple[Parameter, ...]
    estimated: bool = True

    @property
    def fits(self) -> bool:
        """Whether one longest request finds room."""
        return self.cache is not None and self.cache.fits

    def sentence(self) -> str:
        """Return the estimate in short."""
        if self.cache is None:
            return (
                f"{self.weights_gib:.1f} GiB of weights and about {self.other_gib:.1f} GiB besides leave nothing of "
                f"the {self.requested_gib:.1f} GiB of each GPU"
            )
        return f"about {self.kv_gib:.1f} GiB of each GPU are left: {self.cache.sentence()}"


def kv_cache(
    layers: Layers,
    *,
    gpu_memory_mib: int,
    stage_weights_gib: Sequence[float],
    max_model_len: int,
    tensor: int = 1,
    utilization: float = UTILIZATION,
    dtype: str = "bfloat16",
    max_num_batched_tokens: int | None = None,
    max_num_seqs: int | None = None,
    async_scheduling: bool = True,
    block_tokens: int = BLOCK_TOKENS,
    gpu_name: str = "",
) -> GpuKvCache:
    """Return an estimate of the KV cache of one copy of a model on GPUs.

    All GPUs count as left with what the fullest has. Layers whose pages differ in size may be packed more tightly on a
    GPU than is reckoned here.

    Args:
        layers: the model's layers in order, as `experiment.kv.layers.of` gives them.
        gpu_memory_mib: nominal memory of one GPU in MiB.
        stage_weights_gib: GiB of weights of each pipeline stage, all its ranks together
            (`experiment.catalogue.weights.stage_weights_gib`).
        max_model_len: longest request in tokens.
        tensor: tensor-parallel ranks of each stage, one a GPU.
        utilization: `--gpu-memory-utilization`.
        dtype: of the cache, one of `experiment.kv.layers.ELEMENT_BYTES`.
        max_num_batched_tokens: as given to the engine, None for its default.
        max_num_seqs: as given to the engine, None for its default.
        async_scheduling: False with `--no-async-scheduling`.
        block_tokens: `--block-size`.
        gpu_name: model of the GPU: of an A100 the engine takes smaller batches.

    Raises:
        SplitbedError: the engine cannot lay the model out like this, or a number is out of its range.
    """
    if not 0 < utilization <= 1:
        raise SplitbedError(f"The memory utilisation of GPUs is {utilization:g}.", "Give more than 0 and at most 1.")
    size = element_bytes(dtype)
    pipeline = len(stage_weights_gib)
    visible = gpu_memory_mib / 1024 * VISIBLE.value
    requested = ceil(visible * GIB * utilization) / GIB
    weights = max(stage_weights_gib) / tensor
    others = OTHERS_ALONE if pipeline * tensor == 1 else OTHERS_TOGETHER
    other = ACTIVATIONS.value + others.value + GRAPHS.value
    left = requested - weights - other
    blocks = pool(
        layers,
        scheduling.gpu(
            max_model_len=max_model_len,
            memory_gib=visible,
            name=gpu_name,
            pipeline=pipeline,
            max_num_batched_tokens=max_num_batched_tokens,
            max_num_seqs=max_num_seqs,
            async_scheduling=async_scheduling,
        ),
        pipeline=pipeline,
        tensor=tensor,
        element_bytes=size,
        block_tokens=block_tokens,
    )
    return GpuKvCache(
        requested_gib=requested,
        weights_gib=weights,
        other_gib=other,
        kv_gib=left,
        cache=blocks.cache(int(left * GIB), max_model_len) if left > 0 else None,
        assumptions=(VISIBLE, ACTIVATIONS, others, GRAPHS),
    )
