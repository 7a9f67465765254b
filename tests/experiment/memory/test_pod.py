import dataclasses
import json
from typing import Any

import pytest

from experiment.catalogue.models import Geometry, model
from experiment.memory.pod import PodMemory, pods
from experiment.memory.shortage import Cause, Verdict

ALLOCATABLE = 29.8  # GiB of a m7g.2xlarge, as the 12B post saw
POST = {"pipeline": 2, "limit_gib": 26.0, "node_left_gib": ALLOCATABLE, "own_page_cache": True}


def geometry(name: str) -> Geometry:
    found = model(name)
    assert found is not None
    return found


def gemma_12b(**other: Any) -> tuple[PodMemory, ...]:
    return pods(geometry("google/gemma-4-12B-it"), **{"kv_bytes": 400_000_000, **other})


def test_4_gib_of_kv_cache_are_refused_the_12b_post_with_26_gib() -> None:
    for pod in gemma_12b(**{**POST, "kv_bytes": 4 * 2**30}):
        assert pod.verdict is Verdict.REFUSED
        [short] = pod.shortages
        assert (short.cause, short.certain) == (Cause.GUARD, True)
        assert "asks for 4.00 GiB of KV cache and sees 0.58 to 0.97 GiB" in short.sentence


def test_4_gib_may_be_had_if_another_reads_the_weights_last() -> None:
    for pod in gemma_12b(**{**POST, "kv_bytes": 4 * 2**30, "own_page_cache": False}):
        assert pod.verdict is Verdict.PERHAPS
        assert pod.guard.best_gib > 4


@pytest.mark.parametrize("limit_gib", [26.0, ALLOCATABLE])
def test_one_node_is_too_small_for_the_12b(limit_gib: float) -> None:
    [pod] = gemma_12b(limit_gib=limit_gib, node_left_gib=ALLOCATABLE)
    assert pod.verdict is Verdict.REFUSED
    [short] = pod.shortages
    assert (short.cause, short.certain) == (Cause.LIMIT, True)
    assert short.short_gib == pytest.approx(pod.high_gib - limit_gib)


def test_a_request_beyond_the_node_leaves_the_12b_pending() -> None:
    [pod] = gemma_12b(limit_gib=32, node_left_gib=ALLOCATABLE)
    assert [(short.cause, short.certain) for short in pod.shortages] == [(Cause.NODE, True)]
    assert pod.shortages[0].sentence == "the pod asks for 32 GiB and its node has 29.8 GiB left"


def test_one_node_of_64_gib_holds_the_12b() -> None:
    [pod] = gemma_12b(limit_gib=56, own_page_cache=True)
    assert pod.verdict is Verdict.FITS


def test_parts_add_up_to_the_whole() -> None:
    for pod in gemma_12b(**POST, shared_memory_gib=2, tensor=2):
        assert pod.low_gib == pytest.approx(pod.weights_gib + pod.overhead.low_gib + pod.kv_gib)
        assert pod.high_gib == pytest.approx(pod.weights_gib + pod.overhead.high_gib + pod.kv_gib + 2)
        assert pod.headroom_gib == pytest.approx(26 - pod.high_gib)
        assert pod.kv_gib == pytest.approx(2 * 400_000_000 / 2**30)


def test_splitting_does_not_divide_the_overhead() -> None:
    llama = geometry("meta-llama/Llama-3.1-8B-Instruct")
    [whole] = pods(llama, kv_bytes=2**30, limit_gib=64)
    halves = pods(llama, kv_bytes=2**30, limit_gib=64, pipeline=2)
    assert sum(pod.weights_gib for pod in halves) == pytest.approx(whole.weights_gib)
    assert {pod.overhead for pod in halves} == {whole.overhead}


def test_it_can_be_written_as_json() -> None:
    [pod] = gemma_12b(limit_gib=26)
    assert json.loads(json.dumps(dataclasses.asdict(pod)))["shortages"][0]["cause"] == "limit"
