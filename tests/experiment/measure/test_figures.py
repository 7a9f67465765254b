"""Figures worked out by hand from a few stamps."""

from itertools import accumulate

import pytest

from experiment.kinds.profiles import Objective
from experiment.measure.counters import GENERATED_TOKENS, STEPS, Counters, Scrape, ServerCounters
from experiment.measure.endurance import DriftFigures, GoodputFigures, OutageFigures, highest_rate
from experiment.measure.load import LoadFigures, StepFigures, mode_of
from experiment.measure.part import Distribution, percentile
from experiment.measure.request import Failure, Figures, Reply, Stamps, Tokens
from experiment.measure.sharing import InterferenceFigures
from tests.benchmark.records import failure, request


def stream(sent_s: float, first_s: float, *gaps_s: float, due_s: float | None = None) -> Reply:
    chunks_s = tuple(accumulate(gaps_s, initial=sent_s + first_s))
    stamps = Stamps(due_s=due_s, sent_s=sent_s, headers_s=None, chunks_s=chunks_s, end_s=chunks_s[-1])
    tokens = Tokens(prompt=8, output=len(chunks_s), cached=None)
    return Reply(finish_reason="length", tokens=tokens, stamps=stamps, figures=Figures.of(stamps, len(chunks_s)))


def counted(*steps: tuple[int, int], tokens: int = 0) -> Counters:
    servers = [
        ServerCounters(
            address=f"http://{number}",
            before=Scrape(asked_s=0, answered_s=0, values={STEPS: before, GENERATED_TOKENS: 50}),
            after=Scrape(asked_s=9, answered_s=9, values={STEPS: after, GENERATED_TOKENS: 50 + tokens}),
            each_second=(),
            missed=0,
        )
        for number, (before, after) in enumerate(steps)
    ]
    return Counters(servers=tuple(servers))


def test_percentiles_are_values_that_occurred() -> None:
    values = [float(number) for number in range(1, 101)]
    assert [percentile(values, percent) for percent in (50, 90, 99, 100)] == [50, 90, 99, 100]
    assert percentile([7.0], 1) == 7
    assert Distribution.of([None, 2.0, 4.0]) == Distribution(count=2, mean=3, p50=2, p90=4, p99=4, max=4)
    assert Distribution.of([None]) is None


def test_a_load_is_counted_from_the_first_send_to_the_last_end_and_a_failure_is_a_request() -> None:
    requests = [
        request(stream(10, 1, 1, 1), user=0),
        request(stream(11, 1, 1, 2), user=1),
        request(failure(), user=2),
    ]
    load = LoadFigures.of(requests)
    assert (load.requests, load.failed, load.output_tokens, load.span_s) == (3, 1, 6, 5)
    assert load.tokens_per_s == 6 / 5
    # Both stream from 12.0 (the second's first token) to 13.0 (the first's last): one token each.
    assert load.steady_tokens_per_s == 2
    assert load.gaps_s is not None
    assert (load.gaps_s.count, load.gaps_s.max) == (4, 2)


def test_a_load_without_a_reply_has_no_figures() -> None:
    load = LoadFigures.of([request(failure())])
    assert (load.requests, load.failed, load.tokens_per_s, load.ttft_s, load.span_s) == (1, 1, None, None, 0)


def test_what_waiting_to_be_sent_adds_is_in_the_effective_latency() -> None:
    reply = stream(10, 1, 1, due_s=9.5)
    assert (reply.figures.e2e_s, reply.figures.effective_s) == (2, 2.5)
    assert stream(10, 1, 1).figures.effective_s == 2


@pytest.mark.parametrize(
    ("after", "streams", "mode"), [(18, 2, "merged"), (36, 2, "apart"), (27, 2, None), (18, 1, None)]
)
def test_the_mode_is_told_by_steps_for_each_token_of_a_stream(after: int, streams: int, mode: str | None) -> None:
    requests = [request(stream(0, 1, *[1.0] * 17), user=user) for user in range(streams)]
    figures = StepFigures.of(requests, counted((100, 100 + after), tokens=18 * streams))
    assert figures is not None
    assert figures.steps_per_token == after / 18
    assert figures.mode == mode


def test_steps_of_several_engines_are_not_taken_together() -> None:
    requests = [request(stream(0, 1, 1), user=0)]
    assert StepFigures.of(requests, counted((0, 2), tokens=2)) is not None
    assert StepFigures.of(requests, counted((0, 2), (0, 2), tokens=1)) is None
    assert StepFigures.of(requests, counted((0, 2), tokens=3)) is None, "somebody else was served too"
    assert StepFigures.of(requests, Counters(unknown="x")) is None
    assert mode_of(1.5, 4) is None


def test_a_stall_by_hand() -> None:
    victim = stream(0, 1, 0.5, 0.5, 0.5, 3.5, 1.0, 0.5)
    requests = [request(victim), request(stream(2.6, 3, 0.5), role="long-prompt", user=1)]
    figures = InterferenceFigures.of(requests)
    assert figures is not None
    assert (figures.baseline_gap_s, figures.longest_gap_s, figures.stall_s) == (0.5, 3.5, 3.0)
    # 3.5 and 1.0 overlap the long prompt's time (2.6 to 6.1); 1.0 begins at 6.0.
    assert figures.slowed_s == 3.5
    assert figures.stalled_share == pytest.approx(1.0)
    assert figures.same_replica is None


def test_goodput_has_errors_in_its_denominator_and_lateness_in_the_first_token() -> None:
    objective = Objective(ttft_s=1.0, tpot_s=None, longest_gap_s=2.0, share=0.5)
    requests = [
        request(stream(0, 1, 1)),
        request(stream(0, 1, 1, due_s=0)),
        request(stream(1, 0.5, 1, due_s=0)),
        request(stream(0, 1, 3)),
        request(failure()),
    ]
    figures = GoodputFigures.of(requests, objective, 10)
    assert figures is not None
    assert (figures.good, figures.share, figures.kept) == (2, 0.4, False)
    assert (figures.requests_per_s, figures.tokens_per_s) == (0.2, 0.4)
    assert GoodputFigures.of([], objective, 10) is None


@pytest.mark.parametrize(
    ("kept", "highest"),
    [
        ([(1, True), (2, True), (4, False)], 2),
        ([(1, True), (2, False), (4, True)], 1),
        ([(1, True), (1, False), (2, True)], None),
        ([(1, True), (2, True)], 2),
        ([], None),
    ],
)
def test_the_highest_rate_is_below_the_first_that_breaks(kept: list[tuple[float, bool]], highest: float | None) -> None:
    assert highest_rate(kept) == highest


def test_drift_is_a_slope() -> None:
    requests = [request(stream(number * 36.0, 1, 1 + number / 100)) for number in range(21)]
    figures = DriftFigures.of(requests)
    assert figures is not None
    assert figures.slope_s_per_hour == pytest.approx(1.0)
    assert figures.first_tenth_s == pytest.approx(1.005)
    assert figures.last_tenth_s == pytest.approx(1.195)
    assert figures.error_s_per_hour == pytest.approx(0, abs=1e-9)
    assert DriftFigures.of(requests[:9]) is None


def test_a_slope_that_is_scatter_is_within_its_error() -> None:
    requests = [request(stream(number * 1.0, 1, 1 + (0.01 if number % 2 else -0.01))) for number in range(20)]
    figures = DriftFigures.of(requests)
    assert figures is not None
    assert figures.error_s_per_hour is not None
    assert abs(figures.slope_s_per_hour) < 2 * figures.error_s_per_hour
    assert figures.error_s_per_hour > 1


def test_an_outage_is_from_the_last_token_to_the_next_of_anybody() -> None:
    steady = [request(stream(0, 1, *[0.5] * 18))]  # a token at 1.0, 1.5, ... 10.0
    broken = Failure(reason="gone", status=200, stamps=Stamps(sent_s=9, headers_s=9, chunks_s=(10.25,), end_s=None))
    slow = [request(stream(40, 2, *[1.0] * 10))]  # a token a second from 42 to 52
    full = [request(stream(52, 0.5, *[0.5] * 20))]
    figures = OutageFigures.of([*steady, request(broken), *slow, *full], killed_s=10.0, load_s=52.0)
    assert (figures.requests, figures.failed) == (4, 1)
    assert figures.silent_s == 42 - 10.25
    assert figures.full_speed_s == pytest.approx(51 - 10, abs=1.01)
    assert figures.still_silent_s is None


def test_an_outage_that_outlasts_the_load_is_no_short_one() -> None:
    steady = [request(stream(0, 1, *[0.5] * 18))]
    broken = Failure(reason="gone", status=200, stamps=Stamps(sent_s=9, headers_s=9, chunks_s=(10.25,), end_s=None))
    never = OutageFigures.of([*steady, request(broken)], killed_s=10.0, load_s=60.0)
    assert (never.silent_s, never.full_speed_s, never.still_silent_s) == (None, None, 59.75)
