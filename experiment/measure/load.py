"""Figures of many requests taken together, and of the engine's steps under them."""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, Self

from experiment.measure.counters import GENERATED_TOKENS, STEPS, Counters
from experiment.measure.part import Amount, Count, Distribution, Part, Seconds, per_second
from experiment.measure.request import Reply, Request, Stamps

Mode = Literal["merged", "apart"]
MERGED: Mode = "merged"
APART: Mode = "apart"

MERGED_AT_MOST, APART_AT_LEAST = 1.3, 1.8
"""Bounds of steps per token; recorded runs of a real split took up to 1.23, or 2 (tests/data/vllm/split-modes.txt)."""


class LoadFigures(Part):
    """By FORMULAS; a failed request counts as a request and enters no other figure, and no span."""

    requests: Count
    failed: Count
    output_tokens: Count
    span_s: Seconds
    tokens_per_s: Amount | None
    steady_tokens_per_s: Amount | None
    requests_per_s: Amount | None
    ttft_s: Distribution | None
    tpot_s: Distribution | None
    gaps_s: Distribution | None
    effective_s: Distribution | None

    @classmethod
    def of(cls, requests: Sequence[Request]) -> Self:
        """Compute the figures of a repeat."""
        good = replies(requests)
        figures = [reply.figures for _, reply in good]
        begin = min((reply.stamps.sent_s for _, reply in good), default=0.0)
        span = max((_end(reply.stamps) for _, reply in good), default=0.0) - begin
        tokens = sum(reply.tokens.output for _, reply in good)
        return cls(
            requests=len(requests),
            failed=len(requests) - len(good),
            output_tokens=tokens,
            span_s=span,
            tokens_per_s=per_second(tokens, span),
            steady_tokens_per_s=_steady(good),
            requests_per_s=per_second(len(good), span),
            ttft_s=Distribution.of(one.ttft_s for one in figures),
            tpot_s=Distribution.of(one.tpot_s for one in figures),
            gaps_s=Distribution.of(gap for one in figures for gap in one.gaps_s),
            effective_s=Distribution.of(one.effective_s for one in figures),
        )


class StepFigures(Part):
    """How many steps the engine took, and in which mode a split of two stages was; by FORMULAS."""

    steps: Count
    steps_per_token: Amount
    mode: Mode | None

    @classmethod
    def of(cls, requests: Sequence[Request], counters: Counters) -> Self | None:
        """Compute them for equal streams; none if steps are not known, or not of these requests alone."""
        good = replies(requests)
        users = {request.user for request, _ in good}
        if len(counters.servers) != 1 or not users:
            return None
        if counters.servers[0].change(GENERATED_TOKENS) != sum(reply.tokens.output for _, reply in good):
            return None  # not all of these requests were its own, or not only these
        steps = counters.servers[0].change(STEPS)
        per_token = steps / (sum(reply.tokens.output for _, reply in good) / len(users))
        return cls(steps=round(steps), steps_per_token=per_token, mode=mode_of(per_token, len(users)))


def mode_of(steps_per_token: float, streams: int) -> Mode | None:
    """Return the mode of so many equal streams; none for one stream, and for what lies between the modes."""
    return None if streams < 2 else mode_by_steps(steps_per_token)


def mode_by_steps(steps_per_token: float) -> Mode | None:
    """Return the mode that so many engine steps for each token of one stream tell; none for what lies between."""
    if steps_per_token <= MERGED_AT_MOST:
        return MERGED
    return APART if steps_per_token >= APART_AT_LEAST else None


def replies(requests: Iterable[Request]) -> list[tuple[Request, Reply]]:
    """Return the requests that ended well, with their replies."""
    return [(request, request.outcome) for request in requests if isinstance(request.outcome, Reply)]


def arrivals(reply: Reply) -> Iterator[tuple[float, float]]:
    """Yield the stamp of each chunk and its tokens; without the server's word they are equal shares."""
    chunks = reply.stamps.chunks_s
    share = reply.tokens.output / len(chunks)
    yield from zip(chunks, reply.tokens.in_chunks or (share,) * len(chunks), strict=True)


def _end(stamps: Stamps) -> float:
    return stamps.chunks_s[-1] if stamps.end_s is None else stamps.end_s


def _steady(good: Sequence[tuple[Request, Reply]]) -> float | None:
    """Tokens a second while every user streams: from the last first token to the first last one of a user."""
    by_user: dict[int, list[Reply]] = defaultdict(list)
    for request, reply in good:
        by_user[request.user].append(reply)
    if not by_user:
        return None
    begin = max(min(reply.stamps.chunks_s[0] for reply in of_one) for of_one in by_user.values())
    end = min(max(reply.stamps.chunks_s[-1] for reply in of_one) for of_one in by_user.values())
    if end <= begin:
        return None
    # The first instant is open: its tokens were made before the window.
    tokens = math.fsum(count for _, reply in good for at, count in arrivals(reply) if begin < at <= end)
    return per_second(tokens, end - begin)
