"""Which layers each pipeline stage holds."""

from collections.abc import Sequence
from itertools import accumulate, pairwise

from experiment.errors import SplitbedError


def sizes(layers: int, pipeline: int, partition: Sequence[int] | None = None) -> tuple[int, ...]:
    """Return how many layers each stage holds.

    Each has `layers // pipeline`. What remains goes one each to the stages before the last, beginning with the one next
    to it: the last has the final norm and the head (vLLM 0.31.0, `distributed/utils.py: get_pp_indices`).

    Args:
        layers: decoder layers of the model.
        pipeline: number of stages.
        partition: layers of each stage as `VLLM_PP_LAYER_PARTITION` gives them; the rule above without it.

    Raises:
        SplitbedError: a stage would hold no layer, or the partition is not one of the model's layers.
    """
    if pipeline < 1 or pipeline > layers:
        raise SplitbedError(f"{layers} layers cannot be split into {pipeline} stages.", f"Choose 1 to {layers} stages.")
    if partition is not None:
        if len(partition) != pipeline or sum(partition) != layers or min(partition) < 1:
            raise SplitbedError(
                f"The partition {', '.join(map(str, partition))} is none of {layers} layers over {pipeline} stages.",
                f"Give {pipeline} numbers of at least 1 whose sum is {layers}.",
            )
        return tuple(partition)
    least, remaining = divmod(layers, pipeline)
    return tuple(least + (pipeline - 1 - remaining <= stage < pipeline - 1) for stage in range(pipeline))


def ranges(layers: int, pipeline: int, partition: Sequence[int] | None = None) -> tuple[range, ...]:
    """Return the indices of the layers that each stage holds; arguments and errors as of `sizes`."""
    ends = accumulate(sizes(layers, pipeline, partition), initial=0)
    return tuple(range(first, end) for first, end in pairwise(ends))
