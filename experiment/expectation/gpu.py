"""Time of a token on GPUs, to first order: reading the weights, and all-reduces by the GPU post's formula.

The post's own latencies and its table are its author's illustration; those used here were measured, elsewhere.
"""

from dataclasses import dataclass
from typing import Literal

from experiment.catalogue.models import Geometry
from experiment.errors import SplitbedError
from experiment.expectation.parameter import Parameter
from experiment.expectation.parameters import GPU_BANDWIDTH, NVLINK_2, NVLINK_4, PCIE_2, PCIE_4
from experiment.kv.cache import GIB

_PER_LAYER = 2

Interconnect = Literal["nvlink", "pcie"]


@dataclass(frozen=True, kw_only=True)
class GpuSpeed:
    """Speed of one copy of a model on GPUs.

    Attributes:
        memory_ms: what reading the weights for one token takes, all GPUs at once.
        reduce_ms: what the all-reduces of all layers add.
        token_ms: time between two tokens of one user.
        parameters: the numbers it stands on.
        extrapolates: always: its numbers were measured on other machines and models.
    """

    memory_ms: float
    reduce_ms: float
    token_ms: float
    parameters: tuple[Parameter, ...]
    extrapolates: bool = True

    @property
    def tokens_s(self) -> float:
        """Tokens of one user in a second."""
        return 1000 / self.token_ms


def reduce_ms(layers: int, latency_us: float) -> float:
    """Return what all-reduces add to each token: layers times 2 times their latency, the GPU post's formula.

    Args:
        layers: decoder layers.
        latency_us: microseconds of one all-reduce.
    """
    return layers * _PER_LAYER * latency_us / 1000


def latency(tensor: int, interconnect: Interconnect) -> Parameter | None:
    """Return the latency of one all-reduce; None if there is but one GPU. More than two count as four.

    Args:
        tensor: how many GPUs take part.
        interconnect: how they reach each other.
    """
    if tensor == 1:
        return None
    two, more = {"nvlink": (NVLINK_2, NVLINK_4), "pcie": (PCIE_2, PCIE_4)}[interconnect]
    return two if tensor == 2 else more


def speed(
    geometry: Geometry, *, gpu_name: str, interconnect: Interconnect, tensor: int = 1, dtype: str = "bfloat16"
) -> GpuSpeed:
    """Return the speed to expect of one copy on the GPUs of one node.

    Args:
        geometry: the model.
        gpu_name: model of the GPU, one of `GPU_BANDWIDTH`.
        interconnect: how the GPUs reach each other.
        tensor: how many GPUs share each layer.
        dtype: of the weights, as of `Geometry.weights_gib`.

    Raises:
        SplitbedError: nothing is known of the GPU's bandwidth, or of the dtype.
    """
    if gpu_name not in GPU_BANDWIDTH:
        raise SplitbedError(
            f"Nothing is known of the memory bandwidth of the GPU {gpu_name}.", f"Known: {', '.join(GPU_BANDWIDTH)}."
        )
    bandwidth = GPU_BANDWIDTH[gpu_name]
    awake = (geometry.active_parameters or geometry.parameters) / geometry.parameters
    memory = geometry.weights_gib(dtype) * GIB / 1e9 * awake / (bandwidth.value * tensor) * 1000
    reduce = latency(tensor, interconnect)
    added = reduce_ms(geometry.layers, reduce.value) if reduce else 0.0
    return GpuSpeed(
        memory_ms=memory,
        reduce_ms=added,
        token_ms=memory + added,
        parameters=(bandwidth, *((reduce,) if reduce else ())),
    )
