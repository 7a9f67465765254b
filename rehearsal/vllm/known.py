"""Differences between the stand-in and real vLLM that are left on purpose, each with its reason."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from rehearsal.vllm.likeness import Difference


@dataclass(frozen=True)
class Known:
    """Lines that may differ: of which questions and kinds, which lines (all three are patterns), and why.

    One that differs only `sometimes`, as a matter of time, may explain nothing for once.
    """

    question: str
    kind: str
    line: str
    reason: str
    sometimes: bool = False

    def covers(self, difference: Difference, line: str) -> bool:
        """Return whether `line` of this difference is one that may differ."""
        return (
            re.fullmatch(self.question, difference.question) is not None
            and re.fullmatch(self.kind, difference.kind) is not None
            and re.search(self.line, line) is not None
        )


@cache
def known() -> Sequence[Known]:
    """Return the list, as it lies beside this module."""
    entries = json.loads(Path(__file__).with_name("differences.json").read_text())
    return [Known(**entry) for entry in entries]


@dataclass(frozen=True)
class Verdict:
    """Differences that nothing explains, and entries of the list that explain nothing any more."""

    unexplained: Sequence[Difference]
    outdated: Sequence[Known]


def judge(differences: Sequence[Difference], entries: Sequence[Known]) -> Verdict:
    """Hold differences against the list: a difference is explained if what is left of both sides is equal."""
    used: set[Known] = set()
    unexplained = []
    for difference in differences:
        here = [entry for entry in entries if _touches(entry, difference)]
        real, standin = (
            [line for line in side if not any(entry.covers(difference, line) for entry in here)]
            for side in (difference.real, difference.standin)
        )
        if real == standin:
            used.update(here)
        else:
            unexplained.append(Difference(difference.question, difference.kind, real, standin))
    return Verdict(unexplained, [entry for entry in entries if entry not in used and not entry.sometimes])


def _touches(entry: Known, difference: Difference) -> bool:
    return any(entry.covers(difference, line) for line in (*difference.real, *difference.standin))
