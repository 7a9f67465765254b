"""Models by their geometry: what decides the size of weights and KV cache."""

from functools import cache

from pydantic import Field

from experiment.catalogue.data import read
from experiment.errors import SplitbedError
from experiment.strict import Strict

_GIB = 2**30
_BYTES = {"float32": 4, "bfloat16": 2, "float16": 2, "fp8": 1, "int8": 1}
# Quantisation leaves the embedding and the output head as they are: vLLM quantises linear layers alone.
_TABLE_BYTES = {**_BYTES, "fp8": 2, "int8": 2}


class Geometry(Strict):
    """The shape of one decoder-only transformer, by the names of its `config.json` where they are plain.

    A layer attends to everything before it (full), or to a window of so many tokens (sliding). Without a `window` all
    layers are full; with one and no `full_every` all slide; with both, every `full_every`-th is full and the others
    slide.
    """

    layers: int = Field(ge=1, le=1000, description="decoder layers")
    hidden_size: int = Field(ge=1, description="width of the residual stream")
    heads: int = Field(ge=1, description="query heads of a layer")
    kv_heads: int = Field(ge=1, description="key and value heads of a layer; of a sliding layer if they differ")
    head_dim: int = Field(ge=1, description="size of one head; of a sliding layer's if they differ")
    vocabulary: int = Field(ge=1, description="rows of the embedding, padding included")
    parameters: int = Field(ge=1, description="number of parameters of the checkpoint, tied ones counted once")
    intermediate_size: int | None = Field(None, ge=1, description="width of the feed-forward part, unless of experts")
    window: int | None = Field(None, ge=1, description="tokens that a sliding layer attends to; none: no layer slides")
    full_every: int | None = Field(None, ge=2, description="every which layer is full; none: all slide, with a window")
    full_kv_heads: int | None = Field(None, ge=1, description="key and value heads of a full layer, if they differ")
    full_head_dim: int | None = Field(None, ge=1, description="size of one head of a full layer, if it differs")
    values_are_keys: bool = Field(False, description="full layers have no weights for values and cache keys as both")
    active_parameters: int | None = Field(None, ge=1, description="parameters read for one token, if experts sleep")
    encoder_parameters: int = Field(0, ge=0, description="of the parameters those that only images or sound need")
    weight_gib: dict[str, float] = Field(default_factory=dict, description="GiB of the checkpoint by dtype, where seen")
    multimodal: bool = Field(False, description="it takes images, sound or video too")
    gated: bool = Field(False, description="its licence must be accepted on the hub before its weights can be had")
    tied_embeddings: bool = Field(False, description="the output head is the embedding")
    embedding_everywhere: bool = Field(False, description="every pipeline stage holds the embedding")
    max_position: int | None = Field(None, ge=1, description="the longest context it was made for, in tokens")
    source: str = Field("given in the stack file", description="where the figures are from")

    def is_full(self, layer: int) -> bool:
        """Return whether the layer of this index, from 0, attends to everything before it."""
        if self.window is None:
            return True
        return self.full_every is not None and (layer + 1) % self.full_every == 0

    def weights_gib(self, dtype: str) -> float:
        """Return the GiB of all weights: as the checkpoint was seen, else parameters by bytes each.

        Args:
            dtype: what linear layers are kept in: float32, bfloat16, float16, fp8 or int8, or another by which
                `weight_gib` has a size.

        Raises:
            SplitbedError: nothing is known of the dtype.
        """
        if dtype in self.weight_gib:
            return self.weight_gib[dtype]
        if dtype not in _BYTES:
            raise SplitbedError(f"Nothing is known of weights in {dtype}.", f"Choose one of {', '.join(_BYTES)}.")
        tables = self.embedding_gib(dtype) * (1 if self.tied_embeddings else 2)
        rest = self.parameters - self.vocabulary * self.hidden_size * (1 if self.tied_embeddings else 2)
        return rest * _BYTES[dtype] / _GIB + tables

    def embedding_gib(self, dtype: str) -> float:
        """Return the GiB of the embedding alone, of which an output head that is not tied to it takes as much again."""
        return self.vocabulary * self.hidden_size * _TABLE_BYTES.get(dtype, 2) / _GIB


@cache
def models() -> dict[str, Geometry]:
    """Return every known model by each of its names on the hub."""
    return {
        name: Geometry.model_validate({key: value for key, value in entry.items() if key != "names"})
        for entry in read("models")["models"]
        for name in entry["names"]
    }


def model(name: str) -> Geometry | None:
    """Return the geometry of the model of this name on the hub, whatever its case; None if nothing is known of it."""
    return _by_lower_name().get(name.lower())


@cache
def _by_lower_name() -> dict[str, Geometry]:
    return {name.lower(): geometry for name, geometry in models().items()}
