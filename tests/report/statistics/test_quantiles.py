import numpy as np
import pytest

from report.statistics.quantiles import percentile_of

pytestmark = pytest.mark.thorough


def test_the_median_of_ten_lies_between_the_second_and_the_ninth() -> None:
    # The table of order statistics for the sign test: ranks 2 and 9 at n = 10 hold 97.9 %.
    found = percentile_of([float(one) for one in range(1, 11)], 50)
    assert found is not None
    assert (found.value, found.low, found.high) == (5, 2, 9)


def test_a_high_percentile_of_few_values_has_no_upper_bound() -> None:
    found = percentile_of([float(one) for one in range(1, 51)], 99)
    assert found is not None
    assert found.value == 50
    assert found.high is None
    assert found.low is not None


def test_nothing_has_no_percentile() -> None:
    assert percentile_of([], 50) is None


@pytest.mark.parametrize(("count", "percent"), [(8, 50), (30, 90), (400, 99)])
def test_it_covers_the_true_one_of_any_distribution(count: int, percent: float) -> None:
    dice, times, missed = np.random.default_rng(count), 800, [0, 0]
    true = -np.log(1 - percent / 100)  # of the exponential
    for _ in range(times):
        found = percentile_of(dice.exponential(size=count).tolist(), percent)
        assert found is not None
        missed[0] += found.low is not None and found.low > true
        missed[1] += found.high is not None and found.high < true
    assert max(missed) / times <= 0.025 + 3 * (0.025 * 0.975 / times) ** 0.5
