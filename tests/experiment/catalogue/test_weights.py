"""Weights by stage."""

import pytest

from experiment.catalogue.models import Geometry, model
from experiment.catalogue.weights import stage_weights_gib


def known(name: str) -> Geometry:
    geometry = model(name)
    assert geometry is not None
    return geometry


def test_one_stage_holds_the_whole_checkpoint() -> None:
    geometry = known("google/gemma-3-4b-it")

    assert stage_weights_gib(geometry, "bfloat16", (34,), encoder=True) == pytest.approx(
        (geometry.weights_gib("bfloat16"),)
    )


def test_inputs_that_are_switched_off_save_their_encoder() -> None:
    geometry = known("google/gemma-3-4b-it")
    (on,) = stage_weights_gib(geometry, "bfloat16", (34,), encoder=True)
    (off,) = stage_weights_gib(geometry, "bfloat16", (34,))

    assert on - off == pytest.approx(0.78, abs=0.01)  # 420 million parameters of two bytes


def test_the_posts_halves_are_about_eleven_gib_and_the_embedding() -> None:
    first, second = stage_weights_gib(known("google/gemma-4-12B-it"), "bfloat16", (24, 24))

    # the post: half the checkpoint by arithmetic, and about a GiB more for embedding and head
    assert first == second == pytest.approx(11.1 + 0.9, abs=0.1)


def test_an_output_head_of_its_own_is_the_last_stages() -> None:
    geometry = known("meta-llama/Llama-3.1-70B-Instruct")
    stages = stage_weights_gib(geometry, "bfloat16", (27, 27, 26))

    assert sum(stages) == pytest.approx(geometry.weights_gib("bfloat16"))
    assert stages[0] - stages[1] == pytest.approx(geometry.embedding_gib("bfloat16"))
    assert stages[2] > stages[1]


def test_a_tied_head_keeps_the_embedding_at_both_ends_and_gemmas_everywhere() -> None:
    tied, everywhere = known("Qwen/Qwen3-4B"), known("google/gemma-3-4b-it")
    first, middle, last = stage_weights_gib(tied, "bfloat16", (12, 12, 12))

    assert first == last == pytest.approx(middle + tied.embedding_gib("bfloat16"))
    assert len(set(stage_weights_gib(everywhere, "bfloat16", (12, 12, 12)))) == 1
