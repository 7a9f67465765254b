"""What the client says of itself: whether its own limits show in what it measured."""

from collections.abc import Iterable
from itertools import pairwise
from typing import Self

from pydantic import Field

from experiment.measure.part import Amount, Count, Distribution, Part, Seconds
from experiment.measure.request import Request

LAG_S = 0.005
"""99th percentile of how late the event loop, or the reading of what the kernel stamps, may be."""
TOGETHER_SHARE = 0.01
"""Of the chunks, read together with the one before by a client that came too late to see them apart."""
LATE_S = 0.005
"""99th percentile of how late requests may be sent that were due at a moment."""
CPU_SHARE = 0.9
"""Of one core, since an event loop has no more."""
THROTTLED_SHARE = 0.01
"""Of the time, standing still under its own CPU quota."""
FLOOR_SHARE, FLOOR_S = 0.05, 0.001
"""A floor shows if it is above that share of what was measured, and above a millisecond."""


class Calibration(Part):
    """The client against a server that is timed, at the same number of streams.

    Errors are by the server's own stamps on the same monotonic clock: of the time to the first token, from "request
    read" and "chunk written"; of a gap, from the two chunks' being written.
    """

    streams: Count
    tokens: Count
    tries: Count = Field(1, description="how often it was tried; the try that was least off is told")
    gap_s: Seconds
    ttft_error_s: Distribution
    gap_error_s: Distribution


class ClientUse(Part):
    """What a repeat took of the client; none where the system does not tell."""

    wall_s: Seconds
    cpu_s: Seconds
    quota_cores: Amount | None = Field(description="CPU quota of its cgroup in cores")
    periods: Count | None
    throttled_periods: Count | None
    throttled_s: Seconds | None
    lag_s: Distribution | None = Field(description="how late the event loop came to a timer")
    late_s: Distribution | None = Field(description="how late requests were sent that were due at a moment")
    read_late_s: Distribution | None = Field(
        None,
        description="how long after the kernel had it each piece was read; by the kernel's stamp figures are told, so "
        "that this is not in them. None where the kernel stamps nothing, and the moment of reading had to do",
    )
    chunks: Count = Field(0, description="chunks that held tokens")
    together: Count = Field(0, description="of these, read in one go with the one before: when each came is not known")

    def having_read(self, requests: Iterable[Request]) -> Self:
        """Return the same with the chunks of these requests counted."""
        streams = [request.outcome.stamps.chunks_s for request in requests if request.outcome.stamps is not None]
        together = sum(later == earlier for chunks_s in streams for earlier, later in pairwise(chunks_s))
        return self.model_copy(update={"chunks": sum(map(len, streams)), "together": together})


class Verdict(Part):
    """Whether the client was the limit, why, and the least error that it makes."""

    client_limited: bool
    reasons: tuple[str, ...]
    use: ClientUse
    calibration: Calibration | None = Field(description="the floor; none if the plan wants none")


def judge(
    use: ClientUse, calibration: Calibration | None, ttft_s: Distribution | None, gaps_s: Distribution | None
) -> Verdict:
    """Return the verdict on a repeat in which those times were measured."""
    reasons = [*_own(use)]
    if calibration is not None:
        for what, floor, measured in (
            ("first token", calibration.ttft_error_s.p99, ttft_s),
            ("gaps", calibration.gap_error_s.p99, gaps_s),
        ):
            if measured is not None and floor > FLOOR_S and floor > FLOOR_SHARE * measured.p50:
                reasons.append(
                    f"{what}: the client alone is off by {floor * 1000:.1f} ms (99th percentile) at "
                    f"{calibration.streams} streams, where {measured.p50 * 1000:.1f} ms was measured"
                )
    return Verdict(client_limited=bool(reasons), reasons=tuple(reasons), use=use, calibration=calibration)


def _own(use: ClientUse) -> list[str]:
    reasons = []
    if use.wall_s > 0 and use.cpu_s / use.wall_s > CPU_SHARE:
        reasons.append(f"it used {use.cpu_s / use.wall_s:.0%} of a core")
    if use.throttled_s is not None and use.wall_s > 0 and use.throttled_s / use.wall_s > THROTTLED_SHARE:
        reasons.append(f"its CPU quota made it stand still for {use.throttled_s:.2f} of {use.wall_s:.1f} s")
    if use.read_late_s is None:
        # Then each chunk was stamped by the loop, as late as that was.
        if use.lag_s is not None and use.lag_s.p99 > LAG_S:
            reasons.append(f"its event loop was {use.lag_s.p99 * 1000:.1f} ms late (99th percentile)")
    elif use.read_late_s.p99 > LAG_S and use.together > TOGETHER_SHARE * use.chunks:
        reasons.append(
            f"it read {use.read_late_s.p99 * 1000:.1f} ms late (99th percentile), so that {use.together} of "
            f"{use.chunks} chunks were read together with the one before"
        )
    if use.late_s is not None and use.late_s.p99 > LATE_S:
        reasons.append(f"it sent {use.late_s.p99 * 1000:.1f} ms late (99th percentile)")
    return reasons
