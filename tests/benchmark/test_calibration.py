import json

import pytest

from benchmark.calibration import TOKENS, CalibrationError, NullServerCalibrator, compare, least
from benchmark.connection import Exchange
from experiment.measure.client import Calibration
from experiment.measure.part import Distribution


def exchange(first_s: float, lag_s: float = 0.0, tokens: int = TOKENS) -> Exchange:
    """Read a millisecond after it was sent, written each 20 ms, and each second chunk seen `lag_s` later."""
    arrivals = []
    for number in range(tokens):
        written_s = 10.001 + first_s + 0.02 * number
        event = {"read_s": 10.001, "written_s": written_s}
        here_s = written_s + (lag_s if number % 2 else 0.0)
        arrivals.append((here_s, b"data: " + json.dumps(event).encode() + b"\n\n"))
    return Exchange(sent_s=10.0, status=200, arrivals=arrivals, end_s=arrivals[-1][0])


def test_what_the_client_adds_is_told_apart_from_what_the_server_took() -> None:
    floor = compare(2, [exchange(0.1), exchange(0.3, lag_s=0.004)])
    assert floor.ttft_error_s.max == pytest.approx(0.001)
    assert floor.gap_error_s.max == pytest.approx(0.004)
    assert floor.gap_error_s.p50 == pytest.approx(0, abs=1e-9)
    assert (floor.streams, floor.gap_error_s.count) == (2, 2 * (TOKENS - 1))


def test_an_answer_that_is_not_whole_is_no_calibration() -> None:
    with pytest.raises(CalibrationError, match="broke off"):
        compare(1, [exchange(0.1, tokens=3)])


@pytest.mark.parametrize(
    ("lags_s", "tries", "told_s"),
    [((0.0005,), 1, 0.0005), ((0.02, 0.0005), 2, 0.0005), ((0.02, 0.004, 0.03), 3, 0.004)],
)
async def test_what_else_runs_during_one_try_is_not_the_clients_floor(
    lags_s: tuple[float, ...], tries: int, told_s: float
) -> None:
    found = iter(lags_s)

    async def measured() -> Calibration:
        return compare(1, [exchange(0.1, lag_s=next(found))]).model_copy(
            update={"ttft_error_s": Distribution.of([0.0001])}
        )

    floor = await least(measured)
    assert floor.tries == tries
    assert floor.gap_error_s.max == pytest.approx(told_s)


@pytest.mark.thorough
async def test_the_server_that_computes_nothing_measures_this_machine() -> None:
    calibrator = NullServerCalibrator()
    floor = await calibrator.floor(2)
    assert floor.ttft_error_s.count == 2
    assert floor.gap_error_s.count == 2 * (TOKENS - 1)
    assert floor.ttft_error_s.max > 0
    assert await calibrator.floor(2) is floor, "each number of streams is measured once"
