from typing import Any

import pytest

from tests.experiment.stacks import refused

ODD = {"layers": 2, "hidden_size": 64, "heads": 6, "kv_heads": 3, "head_dim": 16, "vocabulary": 100, "parameters": 1000}


@pytest.mark.parametrize(
    ("stack", "change", "path", "found", "said"),
    [
        (
            "gemma-1b-split", {"nodes__engine__count": 1},
            "topology.pipeline", "2 with nodes.engine.count 1", "topology.kind: single",
        ),
        (
            "gemma-12b-split", {"engine__resources__memory_gib": 30},
            "engine.resources.memory_gib", "30 with m7g.2xlarge", "such a node leaves 29.8 GiB to pods",
        ),
        (
            "gemma-1b-split", {"engine__resources__cpu": 8},
            "engine.resources.cpu", "8 with m7g.2xlarge", "such a node leaves 7.91 CPU cores to pods",
        ),
        (
            "gemma-12b-single", {"engine__resources__memory_gib": 64},
            "engine.resources.memory_gib", "64 with r7g.2xlarge", "GiB to pods",
        ),
        (
            "gemma-1b-split", {"engine__kv_cache": {"kind": "space", "gib": 20}},
            "engine.kv_cache.gib", "20 GiB with engine.resources.memory_gib 20", "Take a smaller cache",
        ),
        (
            "gemma-12b-split", {"engine__kv_cache": {"kind": "bytes", "bytes": 30_000_000_000}},
            "engine.kv_cache.bytes", "27.9 GiB with engine.resources.memory_gib 26", "the pod has 25 GiB for it",
        ),
        (
            "gemma-1b-split", {"engine__kv_cache": {"kind": "utilization"}},
            "engine.kv_cache.kind", "utilization with CPU nodes", "{kind: space, gib: 4}",
        ),
        (
            "llama-70b-tp4x1", {"engine__kv_cache": {"kind": "space", "gib": 4}},
            "engine.kv_cache.kind", "space with GPU nodes", "{kind: utilization, fraction: 0.92}",
        ),
        (
            "llama-70b-tp4x1", {"engine__kv_cache": {"kind": "bytes", "bytes": 2**37}},
            "engine.kv_cache.bytes", "128 GiB with g7e.24xlarge", "each GPU has 96 GiB",
        ),
        (
            "gemma-1b-split", {"engine__max_model_len": 40_000},
            "engine.max_model_len", "40000 with google/gemma-3-1b-it", "Take 32768 or less",
        ),
        (
            "gemma-1b-split", {"topology__pipeline": 27, "nodes__engine__count": 27},
            "topology.pipeline", "27 with google/gemma-3-1b-it", "26 layers",
        ),
    ],
)  # fmt: skip
def test_sizes_that_do_not_fit(stack: str, change: dict[str, Any], path: str, found: str, said: str) -> None:
    (problem,) = refused(stack, **change)
    assert (problem.path, problem.found) == (path, found)
    assert said in str(problem)


def test_heads_that_cannot_be_divided() -> None:
    (problem,) = refused("llama-70b-tp4x1", topology__tensor=3)
    assert (problem.path, problem.found) == ("topology.tensor", "3 with meta-llama/Meta-Llama-3.1-70B-Instruct")
    assert "its 64 heads and 8 KV heads" in problem.why
    assert problem.remedy == "Take one of 1, 2, 4, 8, 16."


def test_kv_heads_that_cannot_be_divided_though_the_heads_could() -> None:
    own = {"model__geometry": ODD, "model__name": "some/model", "benchmark": None}
    (problem,) = refused("llama-70b-tp4x1", topology__tensor=2, engine__max_model_len=64, **own)
    assert problem.remedy == "Take one of 1, 3, 6."


def test_a_long_context_may_be_insisted_on() -> None:
    insisted = {"VLLM_ALLOW_LONG_MAX_MODEL_LEN": "1"}
    assert refused("gemma-1b-split", engine__max_model_len=40_000, engine__env=insisted) == []


def test_of_an_unknown_model_nothing_is_refused() -> None:
    assert refused("llama-70b-tp4x1", model__name="some/model", topology__tensor=3) == []


@pytest.mark.parametrize(
    ("gib", "remedy"), [(0.5, "Take {kind: bytes, bytes: 536870912}, which is exact."), (4.0, "Write 4.")]
)
def test_half_a_gib_of_kv_cache_is_said_in_bytes(gib: float, remedy: str) -> None:
    (problem,) = refused("gemma-1b-split", engine__kv_cache={"kind": "space", "gib": gib})
    assert problem.path == "engine.kv_cache.gib"
    assert problem.why == "VLLM_CPU_KVCACHE_SPACE is whole GiB"
    assert problem.remedy == remedy


def test_requests_longer_than_the_context() -> None:
    tests = [{"kind": "one-user"}, {"kind": "prompt-length", "prompt_tokens": [100, 2047]}]
    (problem,) = refused("gemma-12b-split", benchmark__tests=tests)
    assert (problem.path, problem.found) == ("benchmark.tests.1", "prompt-length with engine.max_model_len 2048")
    assert "its longest request has 2049 tokens" in problem.why
    tests[1] = {"kind": "prompt-length", "prompt_tokens": [100, 2046]}
    assert refused("gemma-12b-split", benchmark__tests=tests) == []


def test_without_a_benchmark_no_request_is_too_long() -> None:
    assert refused("gemma-12b-split", benchmark=None) == []
