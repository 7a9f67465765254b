import pytest

from experiment.measure.client import Calibration, ClientUse, judge
from experiment.measure.part import Distribution
from experiment.measure.request import Failure, PromptShape, Request, Stamps


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


@pytest.mark.parametrize(
    ("read_late_s", "together", "words"),
    [
        (0.004, 500, None),  # together, but soon: whoever wrote them did so at once
        (0.02, 5, None),  # late, and the kernel's stamps tell of each when it came
        (0.02, 20, "read 20.0 ms late (99th percentile), so that 20 of 1000 chunks were read together"),
    ],
)
def test_being_late_matters_only_where_the_kernels_stamps_cannot_help(
    read_late_s: float, together: int, words: str | None
) -> None:
    change = {"lag_s": spread(0.02), "read_late_s": spread(read_late_s), "chunks": 1000, "together": together}
    verdict = judge(QUIET.model_copy(update=change), None, None, None)
    assert verdict.client_limited is (words is not None)
    assert not words or words in verdict.reasons[0]


def test_chunks_of_one_read_are_counted() -> None:
    def request(*chunks_s: float) -> Request:
        stamps = Stamps(sent_s=0.0, headers_s=0.0, chunks_s=chunks_s, end_s=None)
        shape = PromptShape(prompt_tokens=1, nonce_tokens=1, output_tokens=1, shape_hash="")
        failed = Failure(reason="broken off", status=200, stamps=stamps)
        return Request(id="1", user=0, connection=1, address="", prompt=shape, outcome=failed)

    use = QUIET.having_read([request(1.0, 1.5, 1.5, 1.5), request(1.5), request()])
    assert (use.chunks, use.together) == (5, 2)


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
