"""Models against what is published and was seen of them."""

import pytest

from experiment.catalogue.models import Geometry, model, models
from experiment.errors import SplitbedError

DENSE = {name: geometry for name, geometry in models().items() if geometry.active_parameters is None}


def counted(geometry: Geometry) -> int:
    """Count parameters by the shapes of matrices; norms and biases are left out, as too few to matter."""
    width = geometry.hidden_size
    total = geometry.vocabulary * width * (1 if geometry.tied_embeddings else 2) + geometry.encoder_parameters
    for layer in range(geometry.layers):
        full = geometry.is_full(layer)
        head_dim = (geometry.full_head_dim if full else None) or geometry.head_dim
        kv_heads = (geometry.full_kv_heads if full else None) or geometry.kv_heads
        total += 2 * width * geometry.heads * head_dim
        total += (1 if full and geometry.values_are_keys else 2) * width * kv_heads * head_dim
        assert geometry.intermediate_size is not None
        total += 3 * width * geometry.intermediate_size
    return total


@pytest.mark.parametrize("name", DENSE)
def test_the_shapes_add_up_to_the_published_number_of_parameters(name: str) -> None:
    assert counted(DENSE[name]) == pytest.approx(DENSE[name].parameters, rel=0.002)


def test_a_token_wakes_fewer_parameters_than_there_are() -> None:
    sparse = [geometry for geometry in models().values() if geometry.active_parameters is not None]

    assert sparse
    assert all((geometry.active_parameters or 0) < geometry.parameters / 4 for geometry in sparse)


@pytest.mark.parametrize(
    ("name", "dtype", "gib"),
    [
        ("google/gemma-4-12B-it", "bfloat16", 22.3),  # the 12B post
        ("google/gemma-3-1b-it", "bfloat16", 1.86),  # the 1B post: about 2 GB
        ("meta-llama/Llama-3.1-70B-Instruct", "bfloat16", 131.4),
        ("meta-llama/Llama-3.1-70B-Instruct", "fp8", 67.7),  # the embedding and the head stay in bfloat16
        ("openai/gpt-oss-120b", "bfloat16", 60.8),  # its card
    ],
)
def test_weights_are_as_large_as_was_seen(name: str, dtype: str, gib: float) -> None:
    geometry = model(name)

    assert geometry is not None
    assert geometry.weights_gib(dtype) == pytest.approx(gib, abs=0.05)


def test_the_embedding_is_counted_in_the_whole_as_alone() -> None:
    geometry = Geometry(
        layers=1, hidden_size=2, heads=1, kv_heads=1, head_dim=2, vocabulary=10, parameters=100, tied_embeddings=True
    )

    assert geometry.embedding_gib("fp8") == 40 / 2**30
    assert geometry.weights_gib("fp8") == (40 + 80) / 2**30
    assert geometry.weights_gib("float32") == 400 / 2**30


def test_an_unknown_dtype_is_refused() -> None:
    geometry = model("google/gemma-3-1b-it")

    assert geometry is not None
    with pytest.raises(SplitbedError, match="int3"):
        geometry.weights_gib("int3")


@pytest.mark.parametrize(
    ("name", "layers", "kv_heads", "head_dim", "full"),
    [  # geometry of shared truth cases: KV cache arithmetic stands on it
        ("google/gemma-3-1b-it", 26, 1, 256, 4),
        ("google/gemma-3-12b-it", 48, 8, 256, 8),
        ("google/gemma-4-12B-it", 48, 8, 256, 8),
        ("meta-llama/Llama-3.1-8B-Instruct", 32, 8, 128, 32),
        ("meta-llama/Llama-3.1-70B-Instruct", 80, 8, 128, 80),
    ],
)
def test_attention_is_as_the_engine_was_seen_to_have_it(
    name: str, layers: int, kv_heads: int, head_dim: int, full: int
) -> None:
    geometry = model(name)

    assert geometry is not None
    assert (geometry.layers, geometry.kv_heads, geometry.head_dim) == (layers, kv_heads, head_dim)
    assert sum(map(geometry.is_full, range(layers))) == full


def test_a_window_without_a_pattern_slides_everywhere() -> None:
    geometry = model("mistralai/Mistral-7B-v0.1")

    assert geometry is not None
    assert not any(map(geometry.is_full, range(geometry.layers)))


def test_the_models_of_the_posts_are_gated() -> None:
    for name in ("google/gemma-3-1b-it", "google/gemma-4-12B-it", "meta-llama/Meta-Llama-3.1-70B-Instruct"):
        geometry = model(name)
        assert geometry is not None
        assert geometry.gated


def test_a_name_is_found_whatever_its_case_and_an_unknown_one_is_not() -> None:
    assert model("google/gemma-4-12b-IT") is model("google/gemma-4-12B-it") is not None
    assert model("google/gemma-5-1t") is None
