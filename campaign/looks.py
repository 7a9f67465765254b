"""A look at what a campaign has measured so far."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from campaign.campaign import Campaign
from campaign.topologies import slug
from report.statistics.stopping import Ending, decide
from report.verdict.capacity import Money
from report.verdict.reading import Named, read
from report.verdict.verdict import Verdict, judge


@dataclass(frozen=True)
class Look:
    """What was seen.

    Attributes:
        verdict: as `splitbed compare` gives it.
        smallest: change that every judged comparison could have shown, as a share; None if nothing is judged.
        ending: whether the campaign may end.
    """

    verdict: Verdict
    smallest: float | None
    ending: Ending


def results_of(directory: Path, campaign: Campaign) -> tuple[Path, ...]:
    """Return where the records of each topology are."""
    return tuple(directory / slug(topology) for topology in campaign.topologies)


def look(directory: Path, campaign: Campaign, money: Mapping[str, Money], runs: int) -> Look:
    """Judge what was measured, and decide.

    Args:
        directory: of the campaign.
        campaign: its question and method.
        money: what an hour costs, by topology in words.
        runs: of each topology, counted by turns; a run whose repeats are all left out counts too.

    Raises:
        SplitbedError: topologies have no record, or cannot be compared at all.
    """
    verdict = judged(directory, campaign, money)
    could_show = _could_show(verdict)
    ending = decide(runs, could_show, campaign.difference, campaign.design)
    return Look(verdict, max(could_show, default=None), ending)


def unusable(directory: Path, campaign: Campaign) -> str | None:
    """Return why no repeat of any topology can be used, if none can; raises as `look`."""
    found = read(places_of(directory, campaign))
    if any(arm.runs for arm in found.arms):
        return None
    return Counter(one.why for one in found.left_out).most_common(1)[0][0]


def judged(directory: Path, campaign: Campaign, money: Mapping[str, Money]) -> Verdict:
    """Return the verdict on all that is there; raises as `look`."""
    return judge(read(places_of(directory, campaign)), campaign.design, money)


def places_of(directory: Path, campaign: Campaign) -> list[Named]:
    """Return where the records of each topology are, with its label."""
    return [Named(path, label) for path, label in zip(results_of(directory, campaign), campaign.labels, strict=True)]


def _could_show(verdict: Verdict) -> Sequence[float]:
    """Return, of each judged comparison, the smallest change that it could have shown."""
    differences = [one.difference for one in verdict.comparisons if one.word is not None]
    return [one.detectable for one in differences if one is not None and one.detectable is not None]
