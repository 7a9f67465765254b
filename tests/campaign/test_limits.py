"""Time and money."""

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from campaign.limits import ENDING_S, Limits, minutes
from tests.campaign.conftest import BEGAN

HOURS = st.floats(0, 1000)
USD = st.floats(0.01, 1000)


@given(hour=USD, turn=USD, budget=USD, passed=HOURS, needed=HOURS, done=st.integers(0, 50), turns=st.integers(1, 5))
def test_what_is_begun_within_the_budget_ends_within_it(
    hour: float, turn: float, budget: float, passed: float, needed: float, done: int, turns: int
) -> None:
    limits = Limits(begun_at=BEGAN, hour_usd=hour, turn_usd=turn, budget_usd=budget)
    now = BEGAN + timedelta(hours=passed)
    refused = limits.refusal(now, needed * 3600, done, turns)
    after = limits.spent_usd(now + timedelta(hours=needed, seconds=ENDING_S), done + turns)
    assert after is not None
    if abs(after - budget) > 1e-6 * budget:
        assert (refused is not None) == (after > budget)
    if refused is not None:
        assert refused.startswith("the budget is near")


@given(left=HOURS, needed=HOURS)
def test_what_is_begun_before_the_end_date_ends_before_it(left: float, needed: float) -> None:
    limits = Limits(begun_at=BEGAN, end=BEGAN + timedelta(hours=left))
    refused = limits.refusal(BEGAN, needed * 3600, 0, 2)
    if abs(left - needed - ENDING_S / 3600) > 1e-6:
        assert (refused is not None) == (needed + ENDING_S / 3600 > left)


def test_where_nothing_is_paid_for_nothing_is_spent() -> None:
    limits = Limits(begun_at=BEGAN)
    assert limits.spent_usd(BEGAN + timedelta(days=400), 9) is None
    assert limits.refusal(BEGAN + timedelta(days=400), 1e9, 9, 2) is None


def test_lengths_of_time() -> None:
    assert [minutes(seconds) for seconds in (-1, 5, 89, 90, 3600, 5400, 86400)] == [
        "no time", "5 s", "89 s", "2 min", "60 min", "1.5 h", "24.0 h",
    ]  # fmt: skip
