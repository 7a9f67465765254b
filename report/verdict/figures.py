"""Which figure of a repeat answers which test, and which way is better."""

from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from typing import Literal

from experiment.record import RepeatRecord

Better = Literal["lower", "higher"]


@dataclass(frozen=True)
class Figure:
    """A figure of one repeat.

    Attributes:
        name: as in JSON; by the formulas of `experiment.record.FORMULAS`.
        title: for people.
        unit: of its value.
        better: which way.
        kinds: kinds of tests that have it.
        judged: whether it is the one figure by which tests of those kinds are judged; others are shown beside it.
        of: takes it from a repeat; None where the repeat has none.
    """

    name: str
    title: str
    unit: str
    better: Better
    kinds: frozenset[str]
    judged: bool
    of: Callable[[RepeatRecord], float | None]


def _streaming(record: RepeatRecord) -> float | None:
    known = [reply.figures.tpot_s for reply in record.replies if reply.figures.tpot_s]
    return 1 / median(known) if known else None


def _ttft(record: RepeatRecord) -> float | None:
    load = record.figures.load
    return load.ttft_s.p50 if load is not None and load.ttft_s is not None else None


def _late_first_token(record: RepeatRecord) -> float | None:
    load = record.figures.load
    return load.ttft_s.p90 if load is not None and load.ttft_s is not None else None


def _gap_p99(record: RepeatRecord) -> float | None:
    load = record.figures.load
    return load.gaps_s.p99 if load is not None and load.gaps_s is not None else None


def _throughput(record: RepeatRecord) -> float | None:
    return record.figures.load.tokens_per_s if record.figures.load is not None else None


def _effective(record: RepeatRecord) -> float | None:
    load = record.figures.load
    return load.effective_s.p90 if load is not None and load.effective_s is not None else None


def _stall(record: RepeatRecord) -> float | None:
    return record.figures.interference.stall_s if record.figures.interference is not None else None


def _warm(record: RepeatRecord) -> float | None:
    return record.figures.follow_up.warm_ttft_s if record.figures.follow_up is not None else None


def _cold(record: RepeatRecord) -> float | None:
    return record.figures.follow_up.cold_ttft_s if record.figures.follow_up is not None else None


def _goodput(record: RepeatRecord) -> float | None:
    return record.figures.goodput.tokens_per_s if record.figures.goodput is not None else None


def _silent(record: RepeatRecord) -> float | None:
    return record.figures.outage.silent_s if record.figures.outage is not None else None


def server_cpu_s(record: RepeatRecord) -> float | None:
    """Return the CPU seconds a token of the processes that answer `/metrics`; workers and engine cores are not in it.

    None where the servers do not tell, or nothing came.
    """
    load, servers = record.figures.load, record.counters.servers
    if load is None or not load.output_tokens or not servers:
        return None
    name = "process_cpu_seconds_total"
    if any(name not in server.before.values or name not in server.after.values for server in servers):
        return None
    return sum(server.change(name) for server in servers) / load.output_tokens


_LOADS = frozenset({"concurrency", "modes", "soak"})
_STREAMS = _LOADS | {"one-user", "open-loop", "profiles"}

FIGURES: tuple[Figure, ...] = (
    Figure("streaming_tokens_per_s", "tokens/s of one user's stream", "tokens/s", "higher",
           frozenset({"one-user"}), True, _streaming),
    Figure("ttft_s", "time to first token", "s", "lower", frozenset({"prompt-length"}), True, _ttft),
    Figure("tokens_per_s", "tokens/s of all users", "tokens/s", "higher", _LOADS, True, _throughput),
    Figure("effective_p90_s", "90th percentile of the time to the whole reply", "s", "lower",
           frozenset({"open-loop"}), True, _effective),
    Figure("stall_s", "stall of a running stream by a long prompt", "s", "lower",
           frozenset({"interference"}), True, _stall),
    Figure("warm_ttft_s", "time to first token of a follow-up turn", "s", "lower",
           frozenset({"follow-up"}), True, _warm),
    Figure("goodput_tokens_per_s", "tokens/s of requests within the objective", "tokens/s", "higher",
           frozenset({"profiles"}), True, _goodput),
    Figure("silent_s", "longest silence after a pod's death", "s", "lower", frozenset({"loss"}), True, _silent),
    Figure("ttft_p50_s", "median time to first token", "s", "lower", _STREAMS, False, _ttft),
    Figure("ttft_p90_s", "90th percentile of the time to first token", "s", "lower",
           _STREAMS - {"one-user"}, False, _late_first_token),
    Figure("gap_p99_s", "99th percentile of gaps between tokens", "s", "lower", _STREAMS, False, _gap_p99),
    Figure("cold_ttft_s", "time to first token of its cold control", "s", "lower",
           frozenset({"follow-up"}), False, _cold),
    Figure("server_cpu_s_per_token", "CPU time a token of the process that answers /metrics, workers not counted", "s",
           "lower", _STREAMS, False, server_cpu_s),
)  # fmt: skip


def figures_of(kind: str) -> tuple[Figure, ...]:
    """Return the figures of a kind of test, the judged one first."""
    return tuple(figure for figure in FIGURES if kind in figure.kinds)
