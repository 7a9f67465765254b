"""How long turns take."""

from campaign.forecast import Expected, Forecast
from campaign.journal import Measured
from campaign.order import turns
from tests.campaign.conftest import BEGAN, made

ORDER = turns(made(looks=(4,)))
FORECAST = Forecast([Expected(100, "planned"), Expected(500, "at most")])


def measured(number: int, seconds: float | None) -> Measured:
    return Measured(turn=number, run="r", attempt=1, seconds=seconds, places=(), at=BEGAN)


def of(topology: int) -> list[int]:
    return [turn.number for turn in ORDER if turn.topology == topology]


def test_before_any_was_measured_the_plan_is_what_there_is_and_the_vaguest_part_names_the_sum() -> None:
    assert FORECAST.of(ORDER, ORDER, {}) == Expected(4 * 100 + 4 * 500, "at most")
    only_first = [turn for turn in ORDER if turn.topology == 0]
    assert FORECAST.of(only_first, ORDER, {}) == Expected(400, "planned")


def test_then_turns_take_as_long_as_those_of_their_topology_did() -> None:
    seen = {number: measured(number, seconds) for number, seconds in zip(of(1), (40, 60, 900), strict=False)}
    one = [turn for turn in ORDER if turn.topology == 1][:1]
    assert FORECAST.of(one, ORDER, seen) == Expected(60, "measured")


def test_a_turn_that_was_interrupted_tells_nothing_of_it() -> None:
    one = [turn for turn in ORDER if turn.topology == 1][:1]
    assert FORECAST.of(one, ORDER, {of(1)[0]: measured(of(1)[0], None)}) == Expected(500, "at most")


def test_nothing_takes_no_time() -> None:
    assert FORECAST.of([], ORDER, {}) == Expected(0, "measured")
