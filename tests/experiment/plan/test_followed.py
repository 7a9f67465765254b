"""Advice that is followed as it is printed works: who takes a number of a plan gets a plan that the number holds in."""

import copy
import json
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given
from hypothesis import settings as examples
from hypothesis import strategies as st

from experiment.errors import SplitbedError
from experiment.kv.cache import GIB
from experiment.plan.plan import ExperimentPlan, make
from experiment.settings import load
from tests.experiment.plan.samples import GEMMA_1B, NOW

pytestmark = pytest.mark.thorough

MODELS = ("google/gemma-3-1b-it", "google/gemma-4-12B-it", "Qwen/Qwen3-8B")
GPU_MODELS = (*MODELS, "meta-llama/Meta-Llama-3.1-70B-Instruct")

topologies = st.one_of(
    st.just({"kind": "single"}),
    st.builds(lambda count: {"kind": "replicas", "count": count}, st.integers(2, 4)),
    st.builds(lambda pipeline: {"kind": "split", "pipeline": pipeline}, st.integers(2, 4)),
)
caches = st.one_of(
    st.builds(lambda gib: {"kind": "space", "gib": gib}, st.integers(1, 8)),
    st.builds(lambda size: {"kind": "bytes", "bytes": size}, st.integers(10**7, 3 * 10**9)),
)
lengths = st.sampled_from([512, 1024, 2048, 4096, 8192, 30000])


def planned(data: dict[str, Any]) -> ExperimentPlan:
    return make(load(json.dumps(data), NOW), NOW)


def varied(data: dict[str, Any], **changes: Any) -> ExperimentPlan:
    """Plan with values changed, named by dotted path with `__` for dots; one that does not load is no example."""
    other = copy.deepcopy(data)
    for path, value in changes.items():
        *above, last = path.split("__")
        place = other
        for key in above:
            place = place[key]
        place[last] = value
    return planned(other)


def numbers(plan: ExperimentPlan, name: str) -> dict[str, Any] | None:
    return next((dict(one.numbers) for one in plan.advice if one.name == name), None)


def fits(plan: ExperimentPlan) -> bool:
    return plan.memory is not None and plan.memory.fit == "fits"


def serves(plan: ExperimentPlan) -> bool:
    return plan.cache is not None and plan.cache.fits


def whole_kv(gib: float) -> dict[str, Any]:
    return {"kind": "bytes", "bytes": max(1, int(gib * GIB))}


@given(
    model=st.sampled_from(MODELS),
    topology=topologies,
    instance=st.sampled_from(["m7g.2xlarge", "r7g.2xlarge", "m7g.4xlarge", "c7g.4xlarge"]),
    count=st.integers(1, 5),
    cpu=st.sampled_from([2, 6]),
    memory=st.integers(40, 290).map(lambda tenths: tenths / 10),
    cache=caches,
    kept=st.sampled_from(["node", "none"]),
    length=lengths,
)
@examples(max_examples=30, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
def test_what_a_plan_on_cpus_advises_works(
    model: str,
    topology: dict[str, Any],
    instance: str,
    count: int,
    cpu: float,
    memory: float,
    cache: dict[str, Any],
    kept: str,
    length: int,
) -> None:
    data = copy.deepcopy(GEMMA_1B)
    del data["end_date"]
    data["topology"], data["nodes"]["engine"] = topology, {"instance": instance, "count": count}
    data["model"] |= {"name": model, "weights": {"source": "hub", "cache": kept}}
    data["engine"] |= {"resources": {"cpu": cpu, "memory_gib": memory}, "kv_cache": cache, "max_model_len": length}
    try:
        plan = planned(data)
    except SplitbedError:
        assume(False)
    assert plan.memory is not None
    assert plan.memory.guard is not None
    assert plan.cache is not None

    if not plan.cache.fits and plan.cache.enough_gib < memory - 1:
        assert serves(varied(data, engine__kv_cache=whole_kv(plan.cache.enough_gib)))
    guard = plan.memory.guard
    if not fits(plan) and guard.sure_len >= 264:  # the sample's request
        sure = varied(
            data, engine__kv_cache=whole_kv(guard.sure_gib), engine__max_model_len=min(length, guard.sure_len)
        )
        assert fits(sure)
        assert serves(sure)
    if (spare := numbers(plan, "memory-asked-and-unused")) is not None:
        assert fits(varied(data, engine__resources__memory_gib=memory - spare["spare_gib"]))
    if (one := numbers(plan, "split-fits-one-pod")) is not None:
        ask = max(memory, one["ask_gib"])
        alone = varied(data, topology={"kind": "single"}, engine__resources__memory_gib=ask)
        copies = {"kind": "replicas", "count": one["pods"]}
        several = varied(data, topology=copies, engine__resources__memory_gib=ask)
        assert fits(alone)
        assert fits(several)
        assert not {"pods-stay-pending", "memory-does-not-fit"} & {refusal.name for refusal in several.refusals}
    if (other := numbers(plan, "another-instance-avoids-split")) is not None:
        for name in (name for name in other if "." in name):
            instead = varied(
                data,
                topology={"kind": "single"},
                nodes__engine={"instance": name, "count": 1},
                engine__resources__memory_gib=other["need_gib"],
            )
            assert not plan.cache.fits or fits(instead)
            assert plan.money is not None
            assert instead.money is not None
            assert instead.money.hour_usd <= plan.money.hour_usd


@given(
    model=st.sampled_from(GPU_MODELS),
    topology=topologies,
    tensor=st.sampled_from([1, 2, 4]),
    instance=st.sampled_from(["g6e.12xlarge", "g7e.24xlarge", "g6e.xlarge", "g6.12xlarge"]),
    count=st.integers(1, 4),
    length=lengths,
)
@examples(max_examples=30, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
def test_what_a_plan_on_gpus_advises_works(
    model: str, topology: dict[str, Any], tensor: int, instance: str, count: int, length: int
) -> None:
    data = copy.deepcopy(GEMMA_1B)
    del data["end_date"]
    data["topology"] = topology | {"tensor": tensor}
    data["nodes"] = {
        "system": {"instance": "m7i.large", "count": 1},
        "engine": {"instance": instance, "count": count},
    }
    data["model"]["name"] = model
    data["engine"] |= {
        "resources": {"cpu": 3, "memory_gib": 10},
        "kv_cache": {"kind": "utilization", "fraction": 0.9},
        "max_model_len": length,
        "async_scheduling": True,
    }
    try:
        plan = planned(data)
    except SplitbedError:
        assume(False)

    if numbers(plan, "split-fits-one-pod") is not None:
        assert serves(varied(data, topology={"kind": "single", "tensor": tensor}))
    if numbers(plan, "replicas-serve-better") is not None:
        copies = varied(data, topology={"kind": "replicas", "count": 2, "tensor": tensor // 2})
        assert serves(copies)
    bus = next((one for one in plan.advice if one.name == "tensor-parallel-over-pcie"), None)
    if bus is not None:
        avoidable = "it would fit on" in bus.text
        assert ("no fewer" in bus.text) == (fits(plan) and serves(plan) and not avoidable)
        if not avoidable:
            fewer = varied(data, topology=topology | {"tensor": tensor // 2})
            assert not (fits(fewer) and serves(fewer))
