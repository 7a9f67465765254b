"""Figures of long loads: whether an objective is kept, whether speed drifts, and what the loss of a pod does."""

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from statistics import median
from typing import Self

from experiment.kinds.profiles import Objective
from experiment.measure.load import arrivals, replies
from experiment.measure.part import Amount, Count, Part, Seconds, Signed
from experiment.measure.request import Reply, Request

WINDOW_S = 5.0
FULL_SPEED = 0.9


class GoodputFigures(Part):
    """By FORMULAS; a failed request is not good, and counts."""

    good: Count
    share: Amount
    kept: bool
    requests_per_s: Amount
    tokens_per_s: Amount

    @classmethod
    def of(cls, requests: Sequence[Request], objective: Objective, seconds: float) -> Self | None:
        """Compute them for requests that arrived within `seconds`; none if there were none."""
        if not requests:
            return None
        good = [reply for _, reply in replies(requests) if is_good(reply, objective)]
        begin = min((reply.stamps.sent_s for _, reply in replies(requests)), default=0.0)
        end = max((reply.stamps.end_s or 0.0 for _, reply in replies(requests)), default=0.0)
        span = max(seconds, end - begin)
        share = len(good) / len(requests)
        return cls(
            good=len(good),
            share=share,
            kept=share >= objective.share,
            requests_per_s=len(good) / span,
            tokens_per_s=sum(reply.tokens.output for reply in good) / span,
        )


def is_good(reply: Reply, objective: Objective) -> bool:
    """Say whether a reply keeps every bound of the objective; what it was late by is part of its first token's time."""
    figures = reply.figures
    late = figures.effective_s - figures.e2e_s
    measured = ((late + figures.ttft_s, objective.ttft_s), (figures.tpot_s, objective.tpot_s))
    bounds = (*measured, (figures.longest_gap_s, objective.longest_gap_s))
    return all(value is None or bound is None or value <= bound for value, bound in bounds)


def highest_rate(kept: Sequence[tuple[float, bool]]) -> float | None:
    """Return the highest rate at and below which every repeat kept the objective; none if there is none."""
    rates = sorted({rate for rate, _ in kept})
    broken = min((rate for rate, good in kept if not good), default=math.inf)
    return max((rate for rate in rates if rate < broken), default=None)


class DriftFigures(Part):
    """By FORMULAS: time per token over the time of sending, fitted by least squares.

    What lies within two of its standard errors of zero is no drift that was shown; a short soak's slope mostly does.
    """

    slope_s_per_hour: Signed
    error_s_per_hour: Amount | None = None
    first_tenth_s: Seconds
    last_tenth_s: Seconds

    @classmethod
    def of(cls, requests: Sequence[Request]) -> Self | None:
        """Compute them; none below ten replies."""
        points = sorted(
            (reply.stamps.sent_s, reply.figures.tpot_s)
            for _, reply in replies(requests)
            if reply.figures.tpot_s is not None
        )
        if len(points) < 10 or points[0][0] == points[-1][0]:
            return None
        tenth = len(points) // 10
        values = [value for _, value in points]
        middle_s, middle = (math.fsum(column) / len(points) for column in zip(*points, strict=True))
        square = math.fsum((at - middle_s) ** 2 for at, _ in points)
        slope = math.fsum((at - middle_s) * (value - middle) for at, value in points) / square
        off = math.fsum((value - middle - slope * (at - middle_s)) ** 2 for at, value in points)
        return cls(
            slope_s_per_hour=slope * 3600,
            error_s_per_hour=math.sqrt(off / (len(points) - 2) / square) * 3600,
            first_tenth_s=median(values[:tenth]),
            last_tenth_s=median(values[-tenth:]),
        )


class OutageFigures(Part):
    """By FORMULAS; none where it did not come to that while it was looked at.

    `still_silent_s` is how long there had been no token when the load ended, where that is longer than any silence
    before: the outage outlasted the load.
    """

    killed_s: Seconds
    requests: Count
    failed: Count
    silent_s: Seconds | None
    full_speed_s: Seconds | None
    still_silent_s: Seconds | None = None

    @classmethod
    def of(cls, requests: Sequence[Request], killed_s: float, load_s: float) -> Self:
        """Compute them; the kill was ordered at `killed_s` of the stamps' clock, and the load went on for `load_s`."""
        tokens = sorted(arrival for request in requests for arrival in _all_arrivals(request))
        after = [at for at, _ in tokens if at > killed_s]
        last = max((at for at, _ in tokens if at <= killed_s), default=killed_s)
        silent = max((later - earlier for earlier, later in pairwise([last, *after])), default=0.0)
        still = killed_s + load_s - (after[-1] if after else last)
        before = _rate(tokens, killed_s - WINDOW_S, killed_s)
        full = None
        if before:
            moments = (at for at in after if _rate(tokens, at, at + WINDOW_S) >= FULL_SPEED * before)
            found = next(moments, None)
            full = None if found is None else found - killed_s
        return cls(
            killed_s=killed_s,
            requests=len(requests),
            failed=len(requests) - len(replies(requests)),
            silent_s=silent if silent >= still else None,
            full_speed_s=full,
            still_silent_s=None if silent >= still else still,
        )


def _all_arrivals(request: Request) -> Iterator[tuple[float, float]]:
    """Yield what came of a request; of a failed one its tokens are not known, and each chunk counts as one."""
    if isinstance(request.outcome, Reply):
        yield from arrivals(request.outcome)
    elif request.outcome.stamps is not None:
        yield from ((at, 1.0) for at in request.outcome.stamps.chunks_s)


def _rate(tokens: Sequence[tuple[float, float]], begin: float, end: float) -> float:
    return math.fsum(count for at, count in tokens if begin <= at < end) / (end - begin)
