"""What an engine pod on CPUs takes besides weights and KV cache: two measurements, and a line between them."""

from dataclasses import dataclass

from experiment.expectation.parameter import Parameter

SMALL = Parameter(
    name="engine overhead with 1.86 GiB of weights", value=5.7, unit="GiB", source="the 12B post, of the 1B"
)
LARGE_LOW = Parameter(
    name="engine overhead with 22.28 GiB of weights, at least", value=8.0, unit="GiB", source="the 12B post"
)
LARGE_HIGH = Parameter(
    name="engine overhead with 22.28 GiB of weights, at most", value=8.7, unit="GiB", source="the 12B post"
)
SHARED = Parameter(
    name="of it API server and engine process",
    value=3.1,
    unit="GiB",
    source="the 12B post, 1.9 and 1.2 GiB on the leader; taken to be the same with every model",
)
SMALL_WEIGHTS_GIB = 1.8625
"""GiB of weights of the smaller model that was measured, gemma-3-1b in bfloat16."""

LARGE_WEIGHTS_GIB = 22.28
"""GiB of weights of the larger one, gemma-4-12B in bfloat16."""

_ROUNDING = 0.01


@dataclass(frozen=True, kw_only=True)
class Overhead:
    """A range of GiB.

    Attributes:
        low_gib: least.
        high_gib: most.
        extrapolates: it is of a model, or of a number of ranks, outside what was measured.
        how: how it was found.
    """

    low_gib: float
    high_gib: float
    extrapolates: bool
    how: str


def overhead(weights_gib: float, *, tensor: int = 1) -> Overhead:
    """Return what a pod takes besides weights and KV cache.

    Between the two models that were measured it is taken to grow in a straight line with the weights of the whole
    model (splitting does not divide it), beyond the larger one to go on so, below the smaller one to stay.

    Args:
        weights_gib: GiB of weights of the whole model.
        tensor: tensor-parallel ranks in the pod; all but the API server and the engine process is taken once for each.
    """
    share = (max(weights_gib, SMALL_WEIGHTS_GIB) - SMALL_WEIGHTS_GIB) / (LARGE_WEIGHTS_GIB - SMALL_WEIGHTS_GIB)
    low, high = (
        SHARED.value + (SMALL.value + share * (large - SMALL.value) - SHARED.value) * tensor
        for large in (LARGE_LOW.value, LARGE_HIGH.value)
    )
    beyond = not SMALL_WEIGHTS_GIB * (1 - _ROUNDING) <= weights_gib <= LARGE_WEIGHTS_GIB * (1 + _ROUNDING)
    how = "measured: 5.7 GiB with the 1B, 8 to 8.7 with the 12B"
    if beyond:
        how += f"; a model of {weights_gib:.1f} GiB lies outside"
    elif _ROUNDING < share < 1 - _ROUNDING:
        how += ", a straight line between"
    if tensor > 1:
        how += f"; {tensor} ranks in a pod were not measured"
    return Overhead(low_gib=low, high_gib=high, extrapolates=beyond or tensor > 1, how=how)
