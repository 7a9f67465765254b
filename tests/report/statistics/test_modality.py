import numpy as np
import pytest

from report.statistics.modality import dip, parting, two_modes

pytestmark = pytest.mark.thorough


def test_the_dip_of_two_points_of_equal_weight_is_a_quarter() -> None:
    # Hartigan and Hartigan: at most 1/4, which two atoms reach.
    assert dip(np.array([0.0] * 50 + [1.0] * 50)) == pytest.approx(0.25)


def test_even_steps_have_the_least_dip() -> None:
    assert dip(np.arange(100.0)) == pytest.approx(1 / 200)


def test_the_posts_two_modes_are_found_and_parted() -> None:
    dice = np.random.default_rng(1)
    found = two_modes([*dice.normal(65, 3, 12), *dice.normal(160, 5, 12)])
    assert found is not None
    assert found.p < 0.01
    assert 75 < found.parts_at < 145


def test_too_few_values_tell_nothing() -> None:
    assert two_modes([65.0, 160.0] * 3 + [65.0]) is None


@pytest.mark.parametrize("count", [8, 24, 100])
@pytest.mark.parametrize("kind", ["normal", "lognormal", "exponential", "uniform"])
def test_one_mode_is_called_two_in_a_twentieth_of_samples_at_most(kind: str, count: int) -> None:
    dice, times = np.random.default_rng(count), 80
    wrong = 0
    for _ in range(times):
        found = two_modes(getattr(dice, kind)(size=count).tolist())
        assert found is not None
        wrong += found.p <= 0.05
    assert wrong / times <= 0.05 + 3 * (0.05 * 0.95 / times) ** 0.5


def test_a_series_that_remembers_is_not_called_two_modes() -> None:
    dice, times, wrong = np.random.default_rng(3), 60, 0
    for _ in range(times):
        series = [0.0]
        for shock in dice.normal(size=199):
            series.append(0.95 * series[-1] + shock)
        found = two_modes(series)
        assert found is not None
        wrong += found.p <= 0.05
    assert wrong / times <= 0.05 + 3 * (0.05 * 0.95 / times) ** 0.5


def test_parting_is_between_the_two_groups() -> None:
    assert parting(np.array([1.0, 2.0, 10.0, 11.0])) == 6.0
