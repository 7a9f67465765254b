"""The cache arithmetic gives what a real server said of itself, and refuses in its words."""

import json

import pytest

from rehearsal.engine.memory import GEOMETRIES, Cache, MemoryRefusalError, geometry_of, stage_layers
from rehearsal.engine.settings import GIB
from tests.rehearsal.engine.conftest import RECORDINGS

CASES = json.loads((RECORDINGS / "kv-truth.json").read_text())


def cache_for(case: dict[str, object]) -> Cache:
    stages = case["pipeline_parallel"]
    batched = case["max_num_batched_tokens"] or 2048
    assert isinstance(stages, int)
    assert isinstance(batched, int)
    return Cache(
        geometry=GEOMETRIES[str(case["model"])],
        cache_bytes=int(str(case["kv_cache_memory_bytes"])),
        stages=stages,
        tensor=1,
        tokens_in_flight=batched * stages,
        max_model_len=int(str(case["max_model_len"])),
    )


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['model']}-{case['max_model_len']}")
def test_measured_cases(case: dict[str, object]) -> None:
    cache = cache_for(case)
    if case["ok"]:
        cache.check()
        assert (cache.tokens, round(cache.concurrency, 2)) == (case["tokens"], case["concurrency"])
        return
    with pytest.raises(MemoryRefusalError) as refusal:
        cache.check()
    assert round(cache.needed_bytes / GIB, 2) == case["needed_gib"]
    assert round(cache.available_bytes / GIB, 2) == case["available_gib"]
    assert f"the estimated maximum model length is {case['estimated_max_len']}. " in str(refusal.value)
    assert f"({case['needed_gib']:.2f} GiB KV cache is needed" in str(refusal.value)


def test_left_over_layers_go_to_the_stages_before_the_last() -> None:
    assert stage_layers(26, 4) == [6, 7, 7, 6]
    assert stage_layers(26, 2) == [13, 13]
    assert stage_layers(26, 3) == [9, 9, 8] or stage_layers(26, 3) == [8, 9, 9]


def test_no_memory_at_all() -> None:
    cache = Cache(GEOMETRIES["gemma-3-1b"], 1000, 1, 1, 2048, 4096)
    with pytest.raises(MemoryRefusalError, match="No available memory for the cache blocks"):
        cache.check()


def test_models_are_known_by_their_name() -> None:
    assert geometry_of("google/gemma-3-12b-it") is GEOMETRIES["gemma-3-12b"]
    assert geometry_of("somebody/else") is GEOMETRIES["gemma-3-1b"]
