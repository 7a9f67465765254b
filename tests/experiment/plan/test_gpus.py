"""The GPU post's two layouts, as the tracked stacks have them."""

import pytest

from experiment.plan.plan import ExperimentPlan, make
from stackfiles.stackfile import StackFile
from tests.experiment.plan.samples import NOW


def planned(stack: str, **changes: object) -> ExperimentPlan:
    replaced = {path.replace("__", "."): value for path, value in changes.items()}
    return make(StackFile.of(stack).replaced(replaced).check(NOW), NOW)


def test_the_posts_all_reduces_stand_in_both_plans() -> None:
    """GPU post: 80 layers x 2 x latency is 16 ms on four GPUs over NVLink, 9.6 on two, 480 on four over PCIe."""
    for stack in ("llama-70b-tp4x1", "llama-70b-tp2x2"):
        speed = planned(stack).speed
        assert speed is not None
        found = {one.metric: one.predicted for one in speed.posts if "all-reduces" in one.metric}
        assert found == pytest.approx(
            {
                "Llama 70B, all-reduces of a token, 4 GPUs over nvlink": 16,
                "Llama 70B, all-reduces of a token, 2 GPUs over nvlink": 9.6,
                "Llama 70B, all-reduces of a token, 4 GPUs over pcie": 480,
            }
        )
        assert all(one.measured is None for one in speed.posts), "the post's table is its author's illustration"


def test_four_gpus_over_pcie_are_a_mistake_where_two_would_do() -> None:
    """GPU post: "TP=4 over PCIe should never be used unless the model does not fit in 2 GPUs"."""
    assert planned("llama-70b-tp4x1").goes
    refused = planned("llama-70b-tp4x1", accept=[])
    assert [one.name for one in refused.advice if one.stops] == ["tensor-parallel-over-pcie"]
    assert "replicas-serve-better" in [one.name for one in refused.advice]


def test_two_gpus_over_pcie_are_none_where_one_would_not_do() -> None:
    plan = planned("llama-70b-tp2x2")
    (advice,) = [one for one in plan.advice if one.name == "tensor-parallel-over-pcie"]
    assert not advice.mistake
    assert "fits on no fewer" in advice.text


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
