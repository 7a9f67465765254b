"""Whatever settings load, a plan comes of them: no input gives a traceback."""

import copy
import json
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given
from hypothesis import settings as examples
from hypothesis import strategies as st

from experiment.errors import SplitbedError
from experiment.plan import words
from experiment.plan.plan import ExperimentPlan, make
from experiment.settings import load
from report.plan_markdown import as_markdown
from tests.experiment.plan.samples import GEMMA_1B, GEMMA_12B, NOW

pytestmark = pytest.mark.thorough

topologies = st.one_of(
    st.just({"kind": "none"}),
    st.builds(lambda tensor: {"kind": "single", "tensor": tensor}, st.sampled_from([1, 2, 4])),
    st.builds(lambda count: {"kind": "replicas", "count": count}, st.integers(2, 12)),
    st.builds(lambda pipeline: {"kind": "split", "pipeline": pipeline}, st.integers(2, 12)),
)
caches = st.one_of(
    st.builds(lambda gib: {"kind": "space", "gib": gib}, st.integers(1, 40)),
    st.builds(lambda size: {"kind": "bytes", "bytes": size}, st.integers(1, 2**36)),
    st.builds(lambda fraction: {"kind": "utilization", "fraction": fraction}, st.floats(0.01, 1)),
)
engine_groups = st.builds(
    lambda instance, count, purchase, spread: {
        "instance": instance,
        "count": count,
        "purchase": purchase,
        "spread": spread,
    },
    st.sampled_from(
        ["m7g.2xlarge", "r7g.2xlarge", "c7g.medium", "m7i.48xlarge", "g6e.12xlarge", "p5.48xlarge", "t4g.2xlarge"]
    ),
    st.integers(1, 14),
    st.sampled_from(["on-demand", "spot"]),
    st.booleans(),
)
flags = st.dictionaries(
    st.sampled_from(
        [
            "max-num-seqs",
            "max-num-batched-tokens",
            "block-size",
            "kv-cache-dtype",
            "quantization",
            "limit-mm-per-prompt",
        ]
    ),
    st.one_of(st.integers(-1, 10**6), st.text('a1{}[]:",', max_size=8), st.just({"image": 0}), st.just("fp8")),
    max_size=3,
)
models = st.sampled_from(
    ["google/gemma-3-1b-it", "google/gemma-4-12B-it", "meta-llama/Llama-3.1-70B-Instruct", "Qwen/Qwen3-30B-A3B", "a/b"]
)


@given(
    sample=st.sampled_from([GEMMA_1B, GEMMA_12B]),
    topology=topologies,
    cache=caches,
    group=engine_groups,
    given_flags=flags,
    model=models,
    memory=st.floats(0.5, 30),
    cpu=st.floats(0.1, 7.5),
    length=st.integers(1, 9000),
    partition=st.sampled_from([None, "13,13", "24,24", "x", "0,26"]),
)
@examples(max_examples=60, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
def test_a_plan_comes_of_whatever_loads(
    sample: dict[str, Any],
    topology: dict[str, Any],
    cache: dict[str, Any],
    group: dict[str, Any],
    given_flags: dict[str, Any],
    model: str,
    memory: float,
    cpu: float,
    length: int,
    partition: str | None,
) -> None:
    data = copy.deepcopy(sample)
    data["topology"], data["nodes"]["engine"], data["model"]["name"] = topology, group, model
    gpus = group["instance"].startswith(("g", "p"))
    if gpus:
        data["nodes"]["system"]["instance"] = "m7i.large"
        data["engine"]["async_scheduling"] = True
    data["engine"] |= {
        "resources": {"cpu": cpu, "memory_gib": memory, "shared_memory_gib": 0.25},
        "kv_cache": cache,
        "max_model_len": length,
        "flags": given_flags,
        "env": {} if partition is None else {"VLLM_PP_LAYER_PARTITION": partition},
    }
    try:
        stack = load(json.dumps(data), NOW)
    except SplitbedError:
        assume(False)
    plan = make(stack, NOW)
    assert plan.goes == (not plan.stops)
    assert ExperimentPlan.model_validate_json(plan.to_json()) == plan
    assert as_markdown(plan).startswith("<!-- splitbed plan")
    assert words.verdict(plan)
