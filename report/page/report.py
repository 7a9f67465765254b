"""One report: the verdict, its charts and where all of it comes from."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from report.charts.all import charts
from report.charts.chart import Absent, Chart
from report.page.provenance import Provenance, provenance
from report.verdict.headline import headline
from report.verdict.reading import Reading
from report.verdict.verdict import Verdict


@dataclass(frozen=True)
class Made:
    """By what a report was made.

    Attributes:
        at: when.
        command: that makes it again.
        versions: of Splitbed and what it reckons with.
    """

    at: datetime
    command: str
    versions: Mapping[str, str]


@dataclass(frozen=True)
class Source:
    """Where a topology's records are.

    Attributes:
        topology: the label that they were given; "" if they name it themselves.
        files: how many.
        href: relative to the report's file; None if no such address can be given.
    """

    topology: str
    path: str
    href: str | None
    files: int


@dataclass(frozen=True)
class Report:
    """All that a page says.

    Attributes:
        method: docs/method.md, to be taken along; "" if it is not at hand.
    """

    verdict: Verdict
    headline: str
    charts: Mapping[str, Chart]
    absent: tuple[Absent, ...]
    provenance: tuple[Provenance, ...]
    made: Made
    method: str
    sources: tuple[Source, ...] = ()

    @property
    def simulated(self) -> bool:
        """Whether any figure is of the stand-in."""
        return any(one.simulated for one in self.verdict.subjects)


def report(reading: Reading, verdict: Verdict, made: Made, method: str = "") -> Report:
    """Draw and collect what a page says of results and of the verdict on them; where they lie is for the caller."""
    drawn, absent = charts(reading.arms, verdict)
    return Report(
        verdict=verdict,
        headline=headline(verdict),
        charts=drawn,
        absent=absent,
        provenance=tuple(provenance(arm) for arm in reading.arms),
        made=made,
        method=method,
    )
