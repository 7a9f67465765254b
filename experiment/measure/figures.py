"""All figures of a repeat, and the formula of each."""

from collections.abc import Sequence

from experiment.kinds.alone import OneUser, PromptLength
from experiment.kinds.loads import Concurrency, Loss, Soak
from experiment.kinds.profiles import Profiles
from experiment.kinds.sharing import FollowUp, Interference, Modes
from experiment.measure.counters import Counters
from experiment.measure.endurance import DriftFigures, GoodputFigures, OutageFigures
from experiment.measure.load import LoadFigures, StepFigures
from experiment.measure.part import Part
from experiment.measure.pods import Pods, PodUse, uses
from experiment.measure.request import Reply, Request
from experiment.measure.sharing import FollowUpFigures, InterferenceFigures
from experiment.workload import Test

FORMULAS: dict[str, str] = {
    "t0": "sent_s: the clock just before the request is written to a connection that is already open",
    "chunk": "a streamed event with text, or with a token by its own usage where it has one (a token may have no "
    "text); role-only, empty and final usage events are none; stamped when the socket read that completed it returned, "
    "before anything is parsed",
    "n": "tokens.output: completion_tokens of the server's own usage, never a count of chunks",
    "ttft_s": "chunks_s[0] - sent_s",
    "gaps_s": "chunks_s[i+1] - chunks_s[i], per chunk, all kept; two chunks of one socket read have gap 0",
    "longest_gap_s": "max(gaps_s)",
    "itl_s": "mean(gaps_s), per chunk; equals tpot_s where every chunk holds one token",
    "tpot_s": "(chunks_s[-1] - chunks_s[0]) / (n - 1), per token; the first token is not in it",
    "e2e_s": "end_s - sent_s; end_s is the socket read that completed the HTTP answer",
    "effective_s": "end_s - due_s, or e2e_s where nothing was due at a moment: what waiting to be sent adds is in it",
    "tokens_per_s": "n / e2e_s, of this one request, prefill included",
    "in_chunks": "tokens of each chunk: what completion_tokens of the chunk's own usage grew by; none if it has none",
    "load.span_s": "last end_s - first sent_s of the requests that ended well",
    "load.tokens_per_s": "sum(n) / span_s; the tail in which users have left is in it",
    "load.steady_tokens_per_s": "tokens that came between the last user's first token and the first user's last one, "
    "by that time; none if there is no such time",
    "load.requests_per_s": "requests that ended well / span_s",
    "steps.steps": "change of vllm:iteration_tokens_total_count: steps that gave a token to anybody; none unless one "
    "server counted just the tokens of these requests in vllm:generation_tokens_total",
    "steps.steps_per_token": "steps / (sum(n) / users)",
    "steps.mode": "merged (one batch) up to 1.3 steps per token, apart (two in flight) from 1.8 on, for two streams "
    "or more; says something of split engines only",
    "interference.baseline_gap_s": "median gap of the stream before the long prompt was sent",
    "interference.longest_gap_s": "longest gap of the stream from then until the long prompt's end",
    "interference.stall_s": "longest_gap_s - baseline_gap_s, not below 0",
    "interference.slowed_s": "sum of (gap - baseline_gap_s), where positive, over the gaps of that time",
    "interference.long_ttft_s": "ttft_s of the long prompt",
    "interference.stalled_share": "stall_s / long_ttft_s",
    "follow_up.warm_ttft_s": "ttft_s of the turn that repeats the first turn and its reply; cold_ttft_s of an unlike "
    "prompt of the same length",
    "follow_up.warm_hits": "change of vllm:prefix_cache_hits_total around that turn, in tokens; warm_queries of "
    "vllm:prefix_cache_queries_total",
    "goodput.good": "requests that keep ttft_s (from due_s), tpot_s and longest_gap_s of the objective",
    "goodput.share": "good / all requests, failed ones too",
    "goodput.tokens_per_s": "sum(n) of the good ones / the longer of the time of arrivals and of all requests",
    "drift.slope_s_per_hour": "least squares of tpot_s over sent_s, times 3600; error_s_per_hour is its standard error "
    "if no reply depends on the one before",
    "outage.silent_s": "longest time without a token of any request, from the last token before the kill on; none if "
    "the load ended in it, which still_silent_s tells: from the last token to killed_s + the test's seconds",
    "outage.full_speed_s": "from the kill to the first token after it from which on, for five seconds, 0.9 of the "
    "tokens a second of the five seconds before the kill came",
    "pods.seconds": "after.monotonic_s - before.monotonic_s of the pod's own node; all else of pods is what grew "
    "between these two looks, which lie around the repeat",
    "pods.throttled_share": "throttled_periods / periods",
    "pods.sent_bytes": "of all interfaces but lo",
    "pods.cpu_per_token_s": "cpu_s / sum(n) of the requests that ended well; the idle baseline is in it, and is taken "
    "off as cpu_s of the idle test's same pod * seconds / its seconds",
    "pods.sent_bytes_per_token": "sent_bytes / sum(n), likewise",
    "percentiles": "nearest rank: values that occurred",
}


class TestFigures(Part):
    """Figures of a repeat; those of another kind of test are none."""

    __test__ = False  # not a test of pytest's

    load: LoadFigures | None = None
    steps: StepFigures | None = None
    interference: InterferenceFigures | None = None
    follow_up: FollowUpFigures | None = None
    goodput: GoodputFigures | None = None
    drift: DriftFigures | None = None
    outage: OutageFigures | None = None
    pods: tuple[PodUse, ...] = ()


def figures_of(
    test: Test,
    requests: Sequence[Request],
    counters: Counters,
    killed_s: float | None,
    pods: Pods | None = None,
) -> TestFigures:
    """Compute the figures that a test of that kind has.

    Args:
        test: what was played.
        requests: all of one repeat.
        counters: of the servers around it.
        killed_s: when the death of a pod was ordered, by the clock of the stamps.
        pods: what was counted inside each.
    """
    replies = (request.outcome for request in requests if isinstance(request.outcome, Reply))
    used = () if pods is None else uses(pods, sum(reply.tokens.output for reply in replies))
    return _of_kind(test, requests, counters, killed_s).model_copy(update={"pods": used})


def _of_kind(test: Test, requests: Sequence[Request], counters: Counters, killed_s: float | None) -> TestFigures:
    if not requests:
        return TestFigures()
    load = LoadFigures.of(requests)
    match test:
        case OneUser() | PromptLength() | Concurrency() | Modes():
            return TestFigures(load=load, steps=StepFigures.of(requests, counters))
        case Interference():
            return TestFigures(load=load, interference=InterferenceFigures.of(requests))
        case FollowUp():
            return TestFigures(load=load, follow_up=FollowUpFigures.of(requests))
        case Profiles():
            return TestFigures(load=load, goodput=GoodputFigures.of(requests, test.objective, test.seconds))
        case Soak():
            return TestFigures(load=load, drift=DriftFigures.of(requests), steps=StepFigures.of(requests, counters))
        case Loss() if killed_s is not None:
            return TestFigures(load=load, outage=OutageFigures.of(requests, killed_s, test.seconds))
        case _:
            return TestFigures(load=load)
