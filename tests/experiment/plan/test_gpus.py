"""The GPU post's two layouts, as the tracked stacks have them."""

import pytest

from experiment.plan import words
from experiment.plan.plan import ExperimentPlan, make
from stackfiles.stackfile import StackFile
from tests.experiment.plan.samples import NOW


def planned(stack: str, **changes: object) -> ExperimentPlan:
    replaced = {path.replace("__", "."): value for path, value in changes.items()}
    return make(StackFile.of(stack).replaced(replaced).check(NOW), NOW)


def test_the_posts_all_reduces_stand_in_both_plans() -> None:
    """GPU post: 80 layers x 2 x latency is 16 ms on four GPUs over NVLink, 9.6 on two, 480 on four over PCIe."""
    for stack in ("llama-70b-tp4x1", "llama-70b-tp2x2", "llama-70b-tp2pp2"):
        speed = planned(stack).speed
        assert speed is not None
        found = {one.metric: one.predicted for one in speed.posts if "all-reduce" in one.metric}
        by_the_post = "Llama 70B, by the GPU post: each all-reduce of"
        assert found == pytest.approx(
            {
                f"{by_the_post} 4 GPUs over NVLink 100 us, those of a token": 16,
                f"{by_the_post} 2 GPUs over NVLink 60 us, those of a token": 9.6,
                f"{by_the_post} 4 GPUs over PCIe 3000 us, those of a token": 480,
            }
        )
        assert all(one.measured is None for one in speed.posts), "the post's table is its author's illustration"


def test_four_gpus_over_pcie_are_for_one_user_where_two_would_do() -> None:
    """GPU post: "TP=4 over PCIe should never be used unless the model does not fit in 2 GPUs", by 3 ms an all-reduce.

    By what was measured of one token's, four are faster for one user; for many, two copies are advised.
    """
    plan = planned("llama-70b-tp4x1")
    (bus,) = [one for one in plan.advice if one.name == "tensor-parallel-over-pcie"]
    assert plan.goes
    assert not bus.mistake
    assert "it would fit on 2" in bus.text
    assert bus.numbers["pcie_ms"] == pytest.approx(160 * 22.3 / 1000, abs=0.01)
    assert "replicas-serve-better" in [one.name for one in plan.advice]
    four, two = plan.speed, planned("llama-70b-tp2x2").speed
    assert four is not None
    assert two is not None
    assert four.token_ms < two.token_ms


def test_two_gpus_over_pcie_are_none_where_one_would_not_do() -> None:
    plan = planned("llama-70b-tp2x2")
    (advice,) = [one for one in plan.advice if one.name == "tensor-parallel-over-pcie"]
    assert not advice.mistake
    assert "fits on no fewer" in advice.text


def test_pipeline_over_two_nodes_costs_what_the_one_node_does_and_says_what_it_is() -> None:
    plan, one_node = planned("llama-70b-tp2pp2"), planned("llama-70b-tp4x1")
    assert plan.goes
    assert {one.name for one in plan.advice if one.accepted} == {"split-fits-one-pod", "tensor-parallel-over-pcie"}
    assert plan.cache is not None
    assert one_node.cache is not None
    assert plan.cache.tokens == one_node.cache.tokens, "the same four GPUs hold the model once"
    assert plan.money is not None
    assert one_node.money is not None
    assert plan.money.hour_usd == pytest.approx(one_node.money.hour_usd, rel=0.01)


def test_the_plan_shows_what_is_left_for_the_cache_and_that_it_is_an_estimate() -> None:
    four, two = planned("llama-70b-tp4x1").cache, planned("llama-70b-tp2x2").cache
    assert four is not None
    assert two is not None
    assert four.fits
    assert two.fits
    assert not four.exact
    assert four.assumptions
    assert four.tokens is not None
    assert two.tokens is not None
    assert four.tokens > 2 * two.tokens, "four GPUs keep the weights once, two times two keep them twice"


def test_a_model_that_no_gpu_holds_is_refused() -> None:
    plan = planned("llama-70b-tp4x1", topology={"kind": "single"}, accept=[])
    assert "memory-does-not-fit" in [refusal.name for refusal in plan.refusals]


def test_the_headline_says_what_is_only_reckoned() -> None:
    figures = dict(words.figures(planned("llama-70b-tp2x2")))
    assert figures["one user"] == "roughly 23 tokens/s"
    assert figures["first request"].startswith("roughly ")
    assert figures["planned run"].startswith("roughly ")
    assert not figures["an hour"].startswith("roughly "), "its prices are dated data"
    assert dict(words.figures(planned("gemma-12b-split")))["one user"] == "4.0 tokens/s", "the 12B post measured that"


def test_memory_is_told_of_each_gpu_and_pods_of_what_each_asks_for() -> None:
    plan = planned("llama-70b-tp2x2")
    assert plan.memory is not None
    assert [name for name, _ in words.stages(plan.memory)] == ["each GPU"]
    (engine,) = [room for room in plan.placement.nodes if room.group == "engine"]
    assert "2 x engine (40 CPU, 200 GiB, 2 GPU each)" in words.pods(engine)
