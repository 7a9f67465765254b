"""Modes of a topology under one load: shares, the value of each, and the cause where the records show it."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from pydantic import Field

from experiment.measure.part import Amount, Count, Part
from experiment.record import RepeatRecord
from report.statistics.modality import LEAST, two_modes
from report.verdict.pods import standing_s, throttled
from report.verdict.reading import Arm
from report.verdict.samples import Cell, Keeps, records_of

KINDS = frozenset({"one-user", "concurrency", "modes", "soak"})
"""Kinds of tests whose gaps are of one kind if the engine is in one mode; elsewhere prompts make gaps of their own."""
_ERROR = 0.05
_LEAST_SHARE = 0.1
_APART = 1.15
"""Modes differ by more than runs of one mode do; what is nearer is scatter."""
_IN_FLIGHT = (
    "Whether requests share a batch or are in two that overlap follows from when they arrive, and no setting known to "
    "us chooses it: expect both, and compare topologies mode by mode."
)
_NOT_RECORDED = (
    "The cause is not in the records: neither batches in flight nor the CPU throttling of the pods. If the pods have a "
    "CPU quota, measure again with engine.threads: within-quota or whole-cores, which tells whether that is it."
)


_QUOTA = (
    "The kernel's CPU quota holds the engine up: a stage that has used it up stands still until its period ends. "
    "engine.threads: within-quota or whole-cores mends that."
)
_NOT_BY_QUOTA = "Neither batches in flight nor the CPU quota tells these modes apart. Look at the pods' nodes."
_BY_QUOTA, _FREE = 0.1, 0.01
"""By so much more of its periods a pod is throttled in the slow mode; in no more of them it is not throttled."""


class ModeShare(Part):
    """One mode: how many of the repeats were in it (of gaps, if the modes alternate within repeats), and their gap.

    Attributes:
        throttled: median share of throttled periods by pod; empty where that is not known, or gaps are counted.
        standing_s: for so long a token of one stream was held up by the CPU quota, at least; none likewise.
    """

    name: str
    count: Count
    of: Count
    gap_s: Amount
    low_s: Amount
    high_s: Amount
    throttled: dict[str, Amount] = Field(default_factory=dict)
    standing_s: Amount | None = None


class Modes(Part):
    """More modes than one in one cell of a topology.

    Attributes:
        between: true if a repeat is in one mode or another, false if its gaps alternate.
        cause: what the records say it is.
        basis: how the modes were told apart.
        lost_overlap_s: of each token of the slow mode, what is lost since stages wait for each other, if that is it.
    """

    topology: str
    cell: str
    between: bool
    cause: str
    basis: str
    remedy: str
    shares: tuple[ModeShare, ...]
    lost_overlap_s: Amount | None = None


@dataclass(frozen=True)
class Stratum:
    """The repeats of one mode."""

    name: str
    keeps: Keeps


def strata(arm: Arm, cell: Cell) -> tuple[Modes, tuple[Stratum, ...]] | None:
    """Return the modes between the repeats of a cell, if there is more than one."""
    records = records_of(arm, cell)
    if cell.kind not in KINDS or len(records) < 2:
        return None
    return _recorded(arm.label, cell, records) or _tested(arm.label, cell, records)


def alternating(arm: Arm, cell: Cell) -> Modes | None:
    """Return the modes within repeats: where the gaps of single streams are of two kinds."""
    if cell.kind not in KINDS:
        return None
    series = [gaps for record in records_of(arm, cell) if len(gaps := _undisturbed(record)) >= LEAST]
    # The least p that the test can give is one in a thousand: with more repeats than it takes, that is enough.
    error = max(0.001, _ERROR / max(1, len(series)))
    found = [(gaps, split) for gaps in series if (split := two_modes(gaps)) is not None and split.p <= error]
    parted = [(gaps, split.parts_at) for gaps, split in found if _far(gaps, split.parts_at)]
    if len(parted) * 2 <= len(series):
        return None
    fast = [gap for gaps, at in parted for gap in gaps if gap <= at]
    slow = [gap for gaps, at in parted for gap in gaps if gap > at]
    whole = len(fast) + len(slow)
    basis = f"dip test on the gaps of one stream a repeat: two modes in {len(parted)} of {len(series)} repeats"
    shares = (_of_gaps("fast gaps", fast, whole), _of_gaps("slow gaps", slow, whole))
    cause, remedy = _cause([], records_of(arm, cell))
    return Modes(topology=arm.label, cell=cell.name, between=False, cause=cause, basis=basis,
                 remedy=remedy, shares=shares)  # fmt: skip


def gap_s(record: RepeatRecord) -> float | None:
    """Return the median gap of a repeat."""
    gaps = [gap for reply in record.replies for gap in reply.figures.gaps_s]
    return median(gaps) if gaps else None


def _recorded(label: str, cell: Cell, records: Sequence[RepeatRecord]) -> tuple[Modes, tuple[Stratum, ...]] | None:
    """By the engine's own count of its steps, which says something of split engines only."""
    if any(record.topology is not None and record.topology.get("kind") != "split" for record in records):
        return None
    found = {mode: [one for one in records if _mode(one) == mode] for mode in ("merged", "apart")}
    if not all(found.values()):
        return None
    titles = {"merged": "one batch", "apart": "two batches in flight"}
    shares = [_share(titles[mode], of_mode, len(records)) for mode, of_mode in found.items()]
    neither = [one for one in records if _mode(one) is None]
    if neither:
        shares.append(_share("neither", neither, len(records)))
    lost = max(0.0, shares[0].gap_s - shares[1].gap_s)
    modes = Modes(topology=label, cell=cell.name, between=True, cause="batches in flight",
                  basis="engine steps per token: up to 1.3, or 1.8 and more", remedy=_IN_FLIGHT,
                  shares=tuple(shares), lost_overlap_s=lost)  # fmt: skip
    return modes, tuple(Stratum(titles[mode], lambda one, mode=mode: _mode(one) == mode) for mode in found)  # type: ignore[misc]  # a default binds the loop's value


def _tested(label: str, cell: Cell, records: Sequence[RepeatRecord]) -> tuple[Modes, tuple[Stratum, ...]] | None:
    gaps = _gaps(records)
    split = two_modes(gaps)
    if split is None or split.p > _ERROR or not _far(gaps, split.parts_at):
        return None
    at = split.parts_at
    measured = [(gap, record) for record in records if (gap := gap_s(record)) is not None]
    fast, slow = [one for gap, one in measured if gap <= at], [one for gap, one in measured if gap > at]
    cause, remedy = _cause(fast, slow)
    modes = Modes(topology=label, cell=cell.name, between=True, cause=cause,
                  basis=f"dip test on the median gaps of {len(gaps)} repeats: p = {split.p:.3f}", remedy=remedy,
                  shares=(_share("fast", fast, len(gaps)), _share("slow", slow, len(gaps))))  # fmt: skip
    return modes, (
        Stratum("fast", lambda one: (gap_s(one) or 0) <= at),
        Stratum("slow", lambda one: (gap_s(one) or 0) > at),
    )


def _mode(record: RepeatRecord) -> str | None:
    return record.figures.steps.mode if record.figures.steps is not None else None


def _gaps(records: Sequence[RepeatRecord]) -> list[float]:
    return [gap for record in records if (gap := gap_s(record)) is not None]


def _undisturbed(record: RepeatRecord) -> list[float]:
    """Return the gaps of the longest stream in which the engine read nobody else's prompt: that makes them longer."""
    streams = [reply.stamps for reply in record.replies]
    if not streams:
        return []
    longest = max(streams, key=lambda stamps: len(stamps.chunks_s))
    prompts = [(stamps.sent_s, stamps.chunks_s[0]) for stamps in streams if stamps is not longest]
    return [
        end - begin
        for begin, end in pairwise(longest.chunks_s)
        if not any(sent < end and first > begin for sent, first in prompts)
    ]


def _far(gaps: Sequence[float], at: float) -> bool:
    """Say whether both parts are more than a few stragglers, and far enough from each other to matter."""
    fast, slow = [gap for gap in gaps if gap <= at], [gap for gap in gaps if gap > at]
    least = max(2, _LEAST_SHARE * len(gaps))
    return min(len(fast), len(slow)) >= least and median(slow) > _APART * median(fast)


def _cause(fast: Sequence[RepeatRecord], slow: Sequence[RepeatRecord]) -> tuple[str, str]:
    """Return cause and remedy of a slow mode, by what the kernel counted in the pods.

    Args:
        fast: repeats in the fast mode; none where the modes alternate within repeats.
        slow: those in the slow mode, or in both.
    """
    before, now = throttled(fast), throttled(slow)
    if fast:  # a pod that nobody counted in the fast mode tells nothing of what differs
        now = {pod: share for pod, share in now.items() if pod in before}
    if not now:
        return "not recorded", _NOT_RECORDED
    if any(share >= before.get(pod, 0.0) + _BY_QUOTA for pod, share in now.items()):
        return "CPU quota", _QUOTA
    if max(now.values()) <= _FREE:
        return "unknown, and not the CPU quota: no pod was throttled", _NOT_BY_QUOTA
    return f"unknown: pods were throttled {'alike in both' if fast else 'in few periods'}", _NOT_BY_QUOTA


def _share(name: str, records: Sequence[RepeatRecord], of: int) -> ModeShare:
    found = _of_gaps(name, _gaps(records), of)
    return found.model_copy(update={"throttled": throttled(records), "standing_s": standing_s(records)})


def _of_gaps(name: str, gaps: Sequence[float], of: int) -> ModeShare:
    return ModeShare(name=name, count=len(gaps), of=of, gap_s=median(gaps), low_s=min(gaps), high_s=max(gaps))
