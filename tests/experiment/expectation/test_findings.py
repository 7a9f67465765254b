import dataclasses
import json

import pytest

from experiment.expectation import findings, gpu
from experiment.expectation.expectation import Expectation
from experiment.expectation.known import known
from experiment.expectation.parameter import Parameter
from experiment.expectation.parameters import POST_NVLINK_2, POST_NVLINK_4, POST_PCIE_4


def test_the_31b_lands_nearer_one_and_a_half_than_six_tenths() -> None:
    predicted = findings.the_31b_on_four_nodes().predicted
    assert abs(predicted - 1.5) < 0.1 < abs(predicted - 0.6)
    assert findings.the_31b_on_four_nodes().extrapolates


def test_the_1b_is_held_up_by_software_and_the_12b_five_times_slower_not_twelve() -> None:
    ratio = findings.one_user_of_the_1b().predicted / findings.one_user_of_the_12b().predicted
    assert ratio == pytest.approx(5.2, abs=0.3)


@pytest.mark.parametrize(
    "finding",
    [
        findings.one_user_of_the_1b(),
        findings.splitting_the_1b_costs_a_fifth(),
        findings.long_prompt_of_the_1b(),
        findings.second_turn_without_the_cache(),
        findings.eight_users_of_one_pod(),
        findings.eight_users_of_the_split(),
        findings.one_user_of_the_12b(),
    ],
    ids=lambda finding: finding.metric,
)
def test_what_was_measured_is_met_within_five_percent(finding: Expectation) -> None:
    assert finding.error is not None
    assert abs(finding.error) < 0.05
    assert not finding.extrapolates


def test_what_was_not_used_to_find_the_numbers_is_met_too() -> None:
    errors = [one.error for one in findings.posts() if one.error is not None and not one.calibrated]
    assert len(errors) == 2
    assert all(0 < abs(error) < 0.03 for error in errors)


@pytest.mark.parametrize(("reduce", "expected"), [(POST_NVLINK_4, 16.0), (POST_NVLINK_2, 9.6), (POST_PCIE_4, 480.0)])
def test_all_reduces_as_the_gpu_post_reckons_them(reduce: Parameter, expected: float) -> None:
    assert findings.all_reduces_of_a_70b(reduce).predicted == pytest.approx(expected)


def test_the_gpu_posts_table_is_an_illustration() -> None:
    """It has 200 tokens a second on four H100, which its own all-reduces forbid, and so does their memory."""
    by_its_formula = 1000 / findings.all_reduces_of_a_70b(POST_NVLINK_4).predicted
    assert by_its_formula == pytest.approx(62.5)
    llama = known("meta-llama/Llama-3.1-70B-Instruct")
    by_memory = 1000 / gpu.speed(llama, gpu_name="H100", interconnect="nvlink", tensor=4).memory_ms
    assert findings.one_user_of_a_70b(4).predicted < by_memory < 100


def test_four_gpus_answer_one_user_faster_than_two_over_nvlink() -> None:
    assert findings.one_user_of_a_70b(4).predicted > findings.one_user_of_a_70b(2).predicted


def test_two_copies_double_what_one_can_do() -> None:
    finding = findings.two_copies_double_the_throughput()
    assert finding.predicted == pytest.approx(2.0)
    assert finding.measured is None
    assert finding.extrapolates


def test_every_finding_has_a_source_and_can_be_written() -> None:
    for finding in findings.posts():
        assert finding.source
        json.dumps(dataclasses.asdict(finding))
    assert all(one.extrapolates for one in findings.posts() if one.measured is None)
