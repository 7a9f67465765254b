"""Modes of a topology under one load: shares, the value of each, and the cause where the records show it."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from experiment.measure.part import Amount, Count, Part
from experiment.record import RepeatRecord
from report.statistics.modality import LEAST, two_modes
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


class ModeShare(Part):
    """One mode: how many of the repeats were in it (of gaps, if the modes alternate within repeats), and their gap."""

    name: str
    count: Count
    of: Count
    gap_s: Amount
    low_s: Amount
    high_s: Amount


class Modes(Part):
    """More modes than one in one cell of a topology.

    Attributes:
        between: true if a repeat is in one mode or another, false if its gaps alternate.
        cause: what the records say it is.
        basis: how the modes were told apart.
    """

    topology: str
    cell: str
    between: bool
    cause: str
    basis: str
    remedy: str
    shares: tuple[ModeShare, ...]


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
    shares = (_share("fast gaps", fast, whole), _share("slow gaps", slow, whole))
    return Modes(topology=arm.label, cell=cell.name, between=False, cause="not recorded", basis=basis,
                 remedy=_NOT_RECORDED, shares=shares)  # fmt: skip


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
    shares = [_share(titles[mode], _gaps(of_mode), len(records)) for mode, of_mode in found.items()]
    neither = [one for one in records if _mode(one) is None]
    if neither:
        shares.append(_share("neither", _gaps(neither), len(records)))
    modes = Modes(topology=label, cell=cell.name, between=True, cause="batches in flight",
                  basis="engine steps per token: up to 1.3, or 1.8 and more", remedy=_IN_FLIGHT,
                  shares=tuple(shares))  # fmt: skip
    return modes, tuple(Stratum(titles[mode], lambda one, mode=mode: _mode(one) == mode) for mode in found)  # type: ignore[misc]  # a default binds the loop's value


def _tested(label: str, cell: Cell, records: Sequence[RepeatRecord]) -> tuple[Modes, tuple[Stratum, ...]] | None:
    gaps = _gaps(records)
    split = two_modes(gaps)
    if split is None or split.p > _ERROR or not _far(gaps, split.parts_at):
        return None
    at = split.parts_at
    fast, slow = [gap for gap in gaps if gap <= at], [gap for gap in gaps if gap > at]
    modes = Modes(topology=label, cell=cell.name, between=True, cause="not recorded",
                  basis=f"dip test on the median gaps of {len(gaps)} repeats: p = {split.p:.3f}", remedy=_NOT_RECORDED,
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


def _share(name: str, gaps: Sequence[float], of: int) -> ModeShare:
    return ModeShare(name=name, count=len(gaps), of=of, gap_s=median(gaps), low_s=min(gaps), high_s=max(gaps))
