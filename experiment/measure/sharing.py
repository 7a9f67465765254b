"""Figures of one user's effect on another, and of one turn's on the next."""

from collections.abc import Sequence
from itertools import pairwise
from statistics import median
from typing import Self

from experiment.measure.load import replies
from experiment.measure.part import Amount, Part, Seconds
from experiment.measure.request import Reply, Request, Role


class InterferenceFigures(Part):
    """By FORMULAS; `same_replica` is none where the servers do not tell who answered."""

    baseline_gap_s: Seconds
    longest_gap_s: Seconds
    stall_s: Seconds
    slowed_s: Seconds
    long_ttft_s: Seconds
    stalled_share: Amount
    same_replica: bool | None

    @classmethod
    def of(cls, requests: Sequence[Request]) -> Self | None:
        """Compute them; none if a request failed, or the stream had no two tokens before the long prompt came."""
        stream, long = of_role(requests, "stream"), of_role(requests, "long-prompt")
        if stream is None or long is None:
            return None
        sent, end = long[1].stamps.sent_s, long[1].stamps.end_s or 0.0
        gaps = list(pairwise(stream[1].stamps.chunks_s))
        before = [later - earlier for earlier, later in gaps if later <= sent]
        during = [later - earlier for earlier, later in gaps if later > sent and earlier < end]
        if not before or not during:
            return None
        baseline, longest = median(before), max(during)
        stall = max(0.0, longest - baseline)
        known = stream[0].served_by is not None and long[0].served_by is not None
        return cls(
            baseline_gap_s=baseline,
            longest_gap_s=longest,
            stall_s=stall,
            slowed_s=sum(max(0.0, gap - baseline) for gap in during),
            long_ttft_s=long[1].figures.ttft_s,
            stalled_share=stall / long[1].figures.ttft_s,
            same_replica=stream[0].served_by == long[0].served_by if known else None,
        )


class FollowUpFigures(Part):
    """By FORMULAS; counts are tokens by the servers' own prefix counters, none where they are not known."""

    first_ttft_s: Seconds
    warm_ttft_s: Seconds
    cold_ttft_s: Seconds
    warm_queries: Amount | None
    warm_hits: Amount | None
    cold_hits: Amount | None
    same_replica: bool | None

    @classmethod
    def of(cls, requests: Sequence[Request]) -> Self | None:
        """Compute them; none if a request failed."""
        turns = [of_role(requests, role) for role in ("first-turn", "second-turn", "control")]
        first, warm, cold = turns
        if first is None or warm is None or cold is None:
            return None
        known = first[0].served_by is not None and warm[0].served_by is not None
        return cls(
            first_ttft_s=first[1].figures.ttft_s,
            warm_ttft_s=warm[1].figures.ttft_s,
            cold_ttft_s=cold[1].figures.ttft_s,
            warm_queries=warm[0].prefix.queries if warm[0].prefix else None,
            warm_hits=warm[0].prefix.hits if warm[0].prefix else None,
            cold_hits=cold[0].prefix.hits if cold[0].prefix else None,
            same_replica=first[0].served_by == warm[0].served_by if known else None,
        )


def of_role(requests: Sequence[Request], role: Role) -> tuple[Request, Reply] | None:
    """Return the one request of a role and its reply, if it ended well."""
    found = [pair for pair in replies(requests) if pair[0].role == role]
    return found[0] if found else None
