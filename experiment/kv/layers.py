"""What each layer of a model keeps of every token, as the KV cache sees it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from experiment.errors import SplitbedError

ELEMENT_BYTES = {
    "float32": 4,
    "float": 4,
    "bfloat16": 2,
    "float16": 2,
    "half": 2,
    "fp8": 1,
    "fp8_e4m3": 1,
    "fp8_e5m2": 1,
}
"""Bytes of one number in the cache, by dtype: the model's, or what `--kv-cache-dtype` says."""


def element_bytes(dtype: str) -> int:
    """Return the bytes of one number in a cache of this dtype, one of `ELEMENT_BYTES`.

    Raises:
        SplitbedError: the dtype is none of them.
    """
    if dtype not in ELEMENT_BYTES:
        raise SplitbedError(
            f"The size of a number of dtype {dtype} is not known.", f"Known: {', '.join(ELEMENT_BYTES)}."
        )
    return ELEMENT_BYTES[dtype]


class Attention(Protocol):
    """What `of` asks of a model; `experiment.catalogue.models.Geometry` has it all."""

    @property
    def layers(self) -> int:
        """How many decoder layers."""

    @property
    def kv_heads(self) -> int:
        """Key and value heads of a layer, of a sliding one if they differ."""

    @property
    def head_dim(self) -> int:
        """Size of one head of a layer, of a sliding one's if they differ."""

    @property
    def window(self) -> int | None:
        """Tokens that a sliding layer attends to."""

    @property
    def full_kv_heads(self) -> int | None:
        """Key and value heads of a full layer, if they differ."""

    @property
    def full_head_dim(self) -> int | None:
        """Size of one head of a full layer, if it differs."""

    def is_full(self, layer: int) -> bool:
        """Return whether the layer of this index attends to everything before it."""


@dataclass(frozen=True, kw_only=True)
class LayerCache:
    """The cache of one layer of the whole model, before tensor parallelism divides its heads.

    Attributes:
        kv_heads: key and value heads.
        head_dim: numbers in one head's key, and in its value.
        window: tokens that the layer attends to; None for full attention.
    """

    kv_heads: int
    head_dim: int
    window: int | None = None

    def __post_init__(self) -> None:
        for name, value in (("kv_heads", self.kv_heads), ("head_dim", self.head_dim), ("window", self.window)):
            if value is not None and value < 1:
                raise SplitbedError(f"A layer's {name} is {value}.", "Give a whole number of at least 1.")

    def heads_on_a_rank(self, tensor: int) -> int:
        """Return the heads that each tensor-parallel rank keeps; with more ranks than heads each keeps a copy of one.

        Raises:
            SplitbedError: the ranks do not divide the heads, nor the heads the ranks; the engine refuses that.
        """
        if self.kv_heads % tensor and tensor % self.kv_heads:
            raise SplitbedError(
                f"{tensor} tensor-parallel ranks and {self.kv_heads} KV heads do not divide each other.",
                "Choose a tensor size that divides the KV heads, or is a multiple of them.",
            )
        return max(1, self.kv_heads // tensor)

    def token_bytes(self, tensor: int, element_bytes: int) -> int:
        """Return the bytes that one rank keeps of one token: a key and a value for each of its heads."""
        return 2 * self.heads_on_a_rank(tensor) * self.head_dim * element_bytes


Layers = Sequence[LayerCache | None]
"""The layers of a model in order; None is a layer with no cache of its own, which reads another's."""


def of(attention: Attention) -> tuple[LayerCache, ...]:
    """Return the layers of a model whose full layers come in a regular pattern."""
    return tuple(
        LayerCache(
            kv_heads=attention.full_kv_heads or attention.kv_heads,
            head_dim=attention.full_head_dim or attention.head_dim,
        )
        if attention.is_full(layer)
        else LayerCache(kv_heads=attention.kv_heads, head_dim=attention.head_dim, window=attention.window)
        for layer in range(attention.layers)
    )
