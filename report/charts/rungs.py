"""Rows of dots with whiskers, a few values a row: for what is compared by name and not over a scale."""

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from report.charts import canvas, palette
from report.charts.canvas import MARKERS
from report.charts.chart import Panel
from report.charts.scale import scale
from report.charts.series import Point

_FRAME, _ROW = 100, 58
"""Heights in CSS pixels: of title, axis and legend together, and of a row."""


@dataclass(frozen=True)
class Dot:
    """One value: what it is called, and whether its mark is filled; None of a name is not explained."""

    name: str | None
    point: Point
    filled: bool


@dataclass(frozen=True)
class Rung:
    """One row; `number` is the topology's."""

    label: str
    number: int
    dots: tuple[Dot, ...]
    remark: str = ""


def rungs(name: str, title: str, unit: str, found: Sequence[Rung], *, simulated: bool) -> Panel:
    """Draw rows from above; dots of one row are joined, and their names stand in the legend."""
    shown = scale(unit, (dot.point.middle for rung in found for dot in rung.dots))
    said = []
    with canvas.panel(f"{title}, {shown.unit}", simulated=simulated, height=_FRAME + _ROW * len(found)) as (
        figure,
        axes,
    ):
        for place, rung in enumerate(found):
            _row(axes, place, rung, shown.factor)
            values = ", ".join(f"{dot.name or ''} {shown.said(dot.point.middle)}".strip() for dot in rung.dots)
            said.append(f"{rung.label}: {values}{'; ' + rung.remark if rung.remark else ''}.")
        most = max(dot.point.middle for rung in found for dot in rung.dots) * shown.factor
        top = max(dot.point.high for rung in found for dot in rung.dots) * shown.factor
        axes.set_xlim(0, min(top * 1.12, most * 1.9))
        axes.set_ylim(len(found) - 0.6, -0.85)
        axes.set_yticks([])
        axes.spines.left.set_visible(False)
        axes.xaxis.set_major_locator(MaxNLocator(5))
        for name_, filled in dict.fromkeys((dot.name, dot.filled) for rung in found for dot in rung.dots if dot.name):
            axes.plot([], [], marker="o", ls="", color=palette.INK.light, mew=1.4, label=name_,
                      mfc=palette.INK.light if filled else palette.PAPER.light)  # fmt: skip
    return Panel(name, f"{title}. {' '.join(said)}", figure)


def _row(axes: Axes, place: int, rung: Rung, factor: float) -> None:
    """Draw one row, its name above it: names are long, and a phone is narrow."""
    colour = palette.series(rung.number).light
    marker = MARKERS[rung.number % len(MARKERS)]
    middles = [dot.point.middle * factor for dot in rung.dots]
    axes.annotate(rung.label + (f": {rung.remark}" if rung.remark else ""), (0, place - 0.42), (2, 0),
                  textcoords="offset points", va="center", size=10.5)  # fmt: skip
    axes.hlines(place, min(middles) if len(middles) > 1 else 0, max(middles), color=colour, lw=1.2, alpha=0.55)
    for dot, middle in zip(rung.dots, middles, strict=True):
        ends = (dot.point.low * factor, dot.point.high * factor)
        axes.hlines(place, *ends, color=colour, lw=2.2 if dot.point.is_interval else 1.0)
        axes.plot([middle], [place], marker=marker, color=colour, ms=8, mew=1.6,
                  mfc=colour if dot.filled else palette.PAPER.light)  # fmt: skip
        axes.annotate(f"{middle:,.3g}", (middle, place), (0, -9), textcoords="offset points", ha="center", va="top",
                      size=10)  # fmt: skip
