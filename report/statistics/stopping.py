"""When a campaign that looks at its results may end."""

from collections.abc import Sequence
from typing import Literal

from report.statistics.design import Design

LOOKS = (4, 6, 8)
"""Of a campaign that was told nothing else: after whole rounds of A B B A. With runs that scatter by 2 % about their
topology's mean, a true difference of 10 % is found with a power of 90 % among 14 comparisons by the last of them
(`turns_needed`); how much runs of an engine scatter is to be measured first."""

Ending = Literal["go on", "narrow enough", "last look"]


def decide(runs: int, detectable: Sequence[float], target: float, design: Design) -> Ending:
    """Say whether a campaign may end after so many runs of each topology.

    It may at its planned looks only. Words keep their promise whatever makes it end, since each look has its own share
    of the error; narrow intervals are reason enough, and no reason to change a word.

    Args:
        runs: of each topology.
        detectable: of each judged comparison, the smallest change that its data would have shown, as a share.
        target: the change that all of them shall be able to show.
        design: with its looks.
    """
    if runs >= max(design.looks, default=0):
        return "last look"
    if runs in design.looks and detectable and max(detectable) <= target:
        return "narrow enough"
    return "go on"
