import pytest

from experiment.measure.client import Calibration, ClientUse, judge
from experiment.measure.part import Distribution


def spread(value: float) -> Distribution:
    found = Distribution.of([value])
    assert found is not None
    return found


QUIET = ClientUse(
    wall_s=10,
    cpu_s=1,
    quota_cores=0.5,
    periods=100,
    throttled_periods=0,
    throttled_s=0.0,
    lag_s=spread(0.001),
    late_s=spread(0.001),
)


def floor(error_s: float) -> Calibration:
    return Calibration(streams=8, tokens=50, gap_s=0.02, ttft_error_s=spread(error_s), gap_error_s=spread(error_s))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"cpu_s": 9.5}, "it used 95% of a core"),
        ({"throttled_s": 0.5}, "stand still for 0.50 of 10.0 s"),
        ({"lag_s": spread(0.02)}, "its event loop was 20.0 ms late"),
        ({"late_s": spread(0.02)}, "it sent 20.0 ms late"),
    ],
)
def test_each_limit_of_the_client_is_a_reason(change: dict[str, object], words: str) -> None:
    verdict = judge(QUIET.model_copy(update=change), None, None, None)
    assert verdict.client_limited
    assert len(verdict.reasons) == 1
    assert words in verdict.reasons[0]


def test_a_quiet_client_is_no_limit_and_what_is_unknown_is_no_reason() -> None:
    assert not judge(QUIET, floor(0.0009), spread(0.01), spread(0.01)).client_limited
    unknown = QUIET.model_copy(update={"throttled_s": None, "lag_s": None, "late_s": None})
    assert not judge(unknown, None, None, None).client_limited


@pytest.mark.parametrize(("error_s", "measured_s", "limited"), [(0.002, 0.01, True), (0.002, 0.1, False)])
def test_a_floor_shows_where_it_is_a_twentieth_of_what_was_measured(
    error_s: float, measured_s: float, limited: bool
) -> None:
    verdict = judge(QUIET, floor(error_s), None, spread(measured_s))
    assert verdict.client_limited is limited
    assert verdict.calibration == floor(error_s), "the floor is told in any case"
