"""What a chart is: panels with words for those who cannot see them, and the numbers behind them."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from matplotlib.figure import Figure


@dataclass(frozen=True)
class Panel:
    """One picture.

    Attributes:
        name: within its chart; part of a file's name.
        alt: what is seen, in sentences.
        figure: as drawn, in the colours of light paper.
    """

    name: str
    alt: str
    figure: Figure


@dataclass(frozen=True)
class Numbers:
    """What the panels show, as a table; cells are text, numbers in the units that the columns name."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Chart:
    """One question that the records answer.

    Attributes:
        slug: its name in addresses and files.
        title: the question's subject.
        caption: how to read it.
        panels: one or more.
        numbers: what is drawn.
        simulated: whether any of it was measured on the stand-in; the panels say so too.
    """

    slug: str
    title: str
    caption: str
    panels: tuple[Panel, ...]
    numbers: Numbers
    simulated: bool
    notes: tuple[str, ...] = field(default=())


@dataclass(frozen=True)
class Absent:
    """A chart that is not there, and why."""

    title: str
    why: str


def sentence(parts: Sequence[str]) -> str:
    """Join what is said of several topologies: a; b; c."""
    return "; ".join(parts)
