"""The weights that each stage of a pipeline holds."""

from collections.abc import Sequence

from experiment.catalogue.models import Geometry


def stage_weights_gib(
    geometry: Geometry, dtype: str, layers: Sequence[int], *, encoder: bool = False
) -> tuple[float, ...]:
    """Return the GiB of weights on each stage of a pipeline, all tensor ranks of a stage together.

    vLLM 0.31.0 keeps the embedding on the first stage, on the last too if the output head is tied to it, and of Gemma
    on every stage (`vllm/model_executor/models/{llama,gemma3,gemma4}.py`). The output head is the last stage's. An
    encoder of images or sound is every stage's, unless `--limit-mm-per-prompt` is zero for all that it serves. All
    layers count as equal.

    Args:
        geometry: the model.
        dtype: as of `Geometry.weights_gib`.
        layers: how many decoder layers each stage has, in order.
        encoder: whether the encoders of images and sound are loaded.

    Raises:
        SplitbedError: nothing is known of the dtype.
    """
    whole = geometry.weights_gib(dtype)
    table = geometry.embedding_gib(dtype)
    head = 0.0 if geometry.tied_embeddings else table
    towers = whole * geometry.encoder_parameters / geometry.parameters
    layer = (whole - table - head - towers) / geometry.layers
    last = len(layers) - 1
    return tuple(
        count * layer
        + (table if _has_embedding(geometry, stage, last) else 0.0)
        + (head if stage == last else 0.0)
        + (towers if encoder else 0.0)
        for stage, count in enumerate(layers)
    )


def _has_embedding(geometry: Geometry, stage: int, last: int) -> bool:
    return stage == 0 or geometry.embedding_everywhere or (geometry.tied_embeddings and stage == last)
