"""The KV cache of the catalogue's models against what servers printed, and what the posts saw."""

import json
from pathlib import Path
from typing import Any

import pytest

from experiment.catalogue.models import model
from experiment.kv import cpu, layers
from experiment.kv.cache import KvCache

TRUTH = json.loads((Path(__file__).parents[2] / "data/vllm/kv-truth.json").read_text())
NAMES = {
    "gemma-3-1b": "google/gemma-3-1b-it",
    "gemma-3-12b": "google/gemma-3-12b-it",
    "gemma-4-12b": "google/gemma-4-12B-it",
    "llama-3.1-8b": "meta-llama/Llama-3.1-8B-Instruct",
    "llama-3.1-70b": "meta-llama/Llama-3.1-70B-Instruct",
}


def cache(name: str, kv_bytes: int, max_model_len: int, **other: Any) -> KvCache:
    geometry = model(NAMES[name])
    assert geometry is not None
    return cpu.pool(layers.of(geometry), max_model_len=max_model_len, **other).cache(kv_bytes, max_model_len)


@pytest.mark.parametrize("case", TRUTH, ids=lambda case: f"{case['model']}-{case['max_model_len']}")
def test_as_the_server_said(case: dict[str, Any]) -> None:
    said = cache(
        case["model"],
        case["kv_cache_memory_bytes"],
        case["max_model_len"],
        pipeline=case["pipeline_parallel"],
        max_num_batched_tokens=case["max_num_batched_tokens"],
    )
    assert said.fits == case["ok"]
    if case["ok"]:
        assert (said.tokens, f"{said.concurrency:.2f}") == (case["tokens"], f"{case['concurrency']:.2f}")
    else:
        assert said.needed_gib == case["needed_gib"]
        assert said.available_gib == case["available_gib"]
        assert said.estimated_max_len == case["estimated_max_len"]


def test_the_12b_post_was_refused_4096_tokens_and_proposed_2048() -> None:
    said = cache("gemma-4-12b", 400_000_000, 4096, pipeline=2)
    assert not said.fits
    assert (
        said.sentence() == "4,096 tokens need 0.68 GiB of KV cache, 0.37 GiB are available; the engine proposes 2,048"
    )


def test_the_12b_post_had_2186_tokens_and_1_07_conversations() -> None:
    said = cache("gemma-4-12b", 400_000_000, 2048, pipeline=2)
    assert said.sentence() == "2,186 tokens; 1.07 requests of 2,048 tokens at once"
    assert said.smallest_kv_bytes <= 400_000_000


def test_the_4_gib_of_the_12b_posts_first_attempt_would_have_been_enough_for_its_context() -> None:
    said = cache("gemma-4-12b", 4 * 2**30, 4096, pipeline=2)
    assert said.fits
    assert said.concurrency is not None
    assert said.concurrency > 5
