import pytest

from experiment.catalogue.models import Geometry, model
from experiment.expectation import cpu


def geometry(name: str) -> Geometry:
    found = model(name)
    assert found is not None
    return found


SMALL, LARGE = geometry("google/gemma-3-1b-it"), geometry("google/gemma-4-12B-it")


def test_a_small_model_is_limited_by_software_and_a_large_one_by_memory() -> None:
    assert cpu.speed(SMALL).limited_by == "software"
    assert cpu.speed(LARGE).limited_by == "memory"


def test_splitting_adds_hops_and_divides_nothing() -> None:
    for model_ in (SMALL, LARGE):
        one, two = cpu.speed(model_), cpu.speed(model_, pipeline=2)
        assert two.token_ms == one.token_ms + 9.0  # the 1B post
        assert two.memory_ms == one.memory_ms


def test_experts_that_sleep_are_not_read() -> None:
    awake = cpu.speed(geometry("Qwen/Qwen3-30B-A3B"))
    assert awake.memory_ms == pytest.approx(66, abs=1)
    assert "experts that sleep" in awake.extrapolates


@pytest.mark.parametrize(
    ("speed", "why"),
    [
        (cpu.speed(SMALL), ""),
        (cpu.speed(LARGE, pipeline=2), ""),
        (cpu.speed(LARGE, pipeline=4), "4 stages"),
        (cpu.speed(SMALL, dtype="float32"), "weights in float32"),
        (cpu.speed(SMALL, like_the_posts=False), "other nodes than m7g.2xlarge with 6 cores a pod"),
        (cpu.speed(geometry("google/gemma-4-31B-it")), "a model of 31.3 billion parameters"),
        (cpu.speed(geometry("Qwen/Qwen2.5-0.5B")), "a model of 0.5 billion parameters"),
    ],
)
def test_it_says_when_it_extrapolates(speed: cpu.CpuSpeed, why: str) -> None:
    assert speed.extrapolates == why


def test_traffic_of_the_1b_is_what_its_post_measured() -> None:
    assert cpu.traffic_kb(SMALL, pipeline=2, prompt_tokens=1, tokens=0) == 4.5
    assert cpu.traffic_kb(SMALL, pipeline=2, prompt_tokens=0, tokens=1) == 10
    assert cpu.traffic_kb(SMALL, pipeline=1, prompt_tokens=100, tokens=100) == 0
    assert cpu.traffic_kb(LARGE, pipeline=3, prompt_tokens=1, tokens=0) == pytest.approx(4.5 * 2 * 3840 / 1152)


def test_a_topology_nobody_measured_has_predictions_without_measurements() -> None:
    rows = cpu.expectations(LARGE, pipeline=2, copies=2, prompt_tokens=1000, users=4)
    assert [row.measured for row in rows] == [None] * 3
    assert [row.extrapolates for row in rows] == [False, True, True]
    assert "memory bandwidth of a node: the 12B post" in rows[0].source
    [token, *_] = cpu.expectations(geometry("google/gemma-4-31B-it"), pipeline=4)
    assert "extrapolates: 4 stages" in token.source
