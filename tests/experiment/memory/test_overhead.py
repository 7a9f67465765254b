import pytest

from experiment.memory.overhead import overhead


def test_the_two_models_that_were_measured_are_given_as_measured() -> None:
    small, large = overhead(1.8625), overhead(22.28)
    assert (small.low_gib, small.high_gib) == pytest.approx((5.7, 5.7))  # the 12B post, of the 1B
    assert (large.low_gib, large.high_gib) == pytest.approx((8.0, 8.7))  # the 12B post
    assert not small.extrapolates
    assert not large.extrapolates
    assert "line" not in small.how + large.how


def test_between_them_is_a_line_and_says_so() -> None:
    middle = overhead((1.8625 + 22.28) / 2)
    assert (middle.low_gib, middle.high_gib) == pytest.approx((6.85, 7.2))
    assert not middle.extrapolates
    assert "a straight line between" in middle.how


@pytest.mark.parametrize("weights_gib", [0.5, 58.0])
def test_beyond_them_it_extrapolates_and_says_so(weights_gib: float) -> None:
    beyond = overhead(weights_gib)
    assert beyond.extrapolates
    assert f"a model of {weights_gib:.1f} GiB lies outside" in beyond.how
    assert beyond.low_gib >= 5.7


def test_ranks_share_the_server_and_each_has_a_worker() -> None:
    one, two = overhead(22.28), overhead(22.28, tensor=2)
    assert two.low_gib == pytest.approx(3.1 + 2 * (one.low_gib - 3.1))
    assert two.extrapolates
