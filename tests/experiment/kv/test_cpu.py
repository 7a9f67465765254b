"""The KV cache of a CPU server against what vLLM's own functions answered, and what servers printed."""

import json
from pathlib import Path
from typing import Any

import pytest

from experiment.errors import SplitbedError
from experiment.kv import cpu
from experiment.kv.layers import LayerCache
from experiment.kv.pool import Pool

CASES = json.loads((Path(__file__).parents[2] / "data/kv/answers-vllm-0.31.0.json").read_text())["cases"]
IGNORED = {"kinds", "pattern", "kv_bytes", "async_scheduling", "block_tokens", "chunked_prefill"}


def pool(asked: dict[str, Any]) -> Pool:
    kinds = [LayerCache(kv_heads=heads, head_dim=dim, window=window) for heads, dim, window in asked["kinds"]]
    layers = [None if kind == "-" else kinds[int(kind)] for kind in asked["pattern"]]
    return cpu.pool(
        layers,
        chunked_prefill=asked.get("chunked_prefill") is not False,
        block_tokens=asked.get("block_tokens", cpu.BLOCK_TOKENS),
        **{name: value for name, value in asked.items() if name not in IGNORED},
    )


@pytest.mark.parametrize("case", CASES, ids=lambda case: json.dumps(case["asked"]))
def test_as_vllm_answers(case: dict[str, Any]) -> None:
    asked, answer = case["asked"], case["answer"]
    if answer["refused"] in ("arguments", "layout"):
        with pytest.raises(SplitbedError):
            pool(asked)
        return
    built = pool(asked)
    cache = built.cache(asked["kv_bytes"], asked["max_model_len"])
    assert cache.max_num_batched_tokens == answer["max_num_batched_tokens"]
    assert cache.tokens_in_flight == answer["tokens_in_flight"]
    assert built.scheduling.max_num_seqs == answer["max_num_seqs"]
    assert cache.fits == (answer["refused"] is None)
    if answer["refused"] is None:
        assert cache.tokens == answer["tokens"]
        assert f"{cache.concurrency:.2f}" == answer["concurrency"]
        assert cache.blocks == answer["blocks"]
        assert list(cache.stage_unit_bytes) == answer["unit_bytes"]
    elif answer["refused"] == "no memory":
        assert cache.available_bytes <= 0
    else:
        assert cache.available_bytes > 0
        assert (cache.needed_gib, cache.available_gib) == (answer["needed_gib"], answer["available_gib"])
        assert cache.estimated_max_len == answer["estimated_max_len"]


def test_async_scheduling_changes_nothing_on_a_cpu() -> None:
    answers: dict[str, dict[str, Any]] = {}
    for case in CASES:
        plain = {name: value for name, value in case["asked"].items() if name != "async_scheduling"}
        answers.setdefault(json.dumps(plain, sort_keys=True), {})[str(case["asked"].get("async_scheduling"))] = case[
            "answer"
        ]
    asked_both_ways = [given for given in answers.values() if {"True", "False"} <= set(given)]
    assert len(asked_both_ways) >= 6
    assert all(given["True"] == given["False"] for given in asked_both_ways)


def test_some_answers_are_of_each_kind() -> None:
    kinds = [case["answer"]["refused"] for case in CASES]
    assert all(kinds.count(kind) >= 2 for kind in (None, "too long", "no memory", "layout"))
