"""One panel of one figure over what a test varies, a line a topology."""

from collections.abc import Callable, Sequence
from itertools import pairwise

from matplotlib.axes import Axes

from report.charts import canvas, palette
from report.charts.canvas import DASHES, MARKERS
from report.charts.chart import Panel
from report.charts.scale import Scale, scale
from report.charts.series import Point, Series
from report.verdict.crossover import Crossover

_APART = 16
"""From this ratio of the largest to the smallest level on, levels stand at equal ratios and not at equal distances."""

Filled = Callable[[Series, Point], bool]


def lines(
    name: str,
    title: str,
    over: str,
    unit: str,
    found: Sequence[Series],
    *,
    simulated: bool,
    crossings: Sequence[Crossover] = (),
    filled: Filled = lambda *_: True,
) -> Panel:
    """Draw a panel.

    Args:
        name: of the panel.
        title: what the figure is.
        over: what the test varies.
        unit: of the figure.
        found: one or more series.
        simulated: whether they are of the stand-in.
        crossings: where they cross, as the verdict says.
        filled: whether a point's marker is filled.
    """
    shown = scale(unit, (point.middle for one in found for point in one.points))
    levels = sorted({point.at for one in found for point in one.points})
    with canvas.panel(f"{title}, {shown.unit}", simulated=simulated) as (figure, axes):
        for one in found:
            _line(axes, one, shown, filled, aside=_aside(one, found, levels))
        top = max(point.high for one in found for point in one.points)
        most = max(point.middle for one in found for point in one.points)
        # An interval of two or three runs may be so wide that nothing else could be seen: it is cut off, not hidden.
        axes.set_ylim(0, min(top * 1.08, most * 2.2) * shown.factor or 1)  # all may be zero
        _levels(axes, levels)
        axes.set_xlabel(over)
        for number, bracket in enumerate(bracket for one in crossings for bracket in one.brackets):
            axes.axvspan(bracket.low, bracket.high, color=palette.BAND.light, zorder=0, lw=0,
                         label="" if number else "they cross in here")  # fmt: skip
    return Panel(name, alt(title, over, shown, found, crossings), figure)


def alt(title: str, over: str, shown: Scale, found: Sequence[Series], crossings: Sequence[Crossover] = ()) -> str:
    """Return what is seen: where each line begins and ends, and where they cross."""
    said = [f"{title} over {over}."]
    for one in found:
        first, last = one.points[0], one.points[-1]
        if first is last:
            said.append(f"{one.label}: {shown.said(first.middle)} at {first.at:g}.")
        else:
            way = "rises" if last.middle > first.middle else "falls"
            said.append(
                f"{one.label} {way} from {shown.said(first.middle)} at {first.at:g} to {shown.said(last.middle)} at "
                f"{last.at:g}{_turns(one)}."
            )
    said += [
        f"A band from {bracket.low:g} to {bracket.high:g} {crossing.over}: {bracket.better_before} is better below it, "
        f"{bracket.better_after} above."
        for crossing in crossings
        for bracket in crossing.brackets
    ]
    return " ".join(said)


def rows(found: Sequence[Series], what: str, unit: str) -> list[tuple[str, ...]]:
    """Return the numbers of a panel: figure, topology, level, middle, ends, and of how many runs."""
    shown = scale(unit, (point.middle for one in found for point in one.points))
    return [
        (
            f"{what}, {shown.unit}",
            one.label,
            f"{point.at:g}",
            *(f"{value * shown.factor:,.4g}" for value in (point.middle, point.low, point.high)),
            f"{point.runs} ({'interval' if point.is_interval else 'range of the repeats'})",
        )
        for one in found
        for point in one.points
    ]


COLUMNS = ("figure", "topology", "at", "mean", "low", "high", "runs")


def _line(axes: Axes, one: Series, shown: Scale, filled: Filled, aside: Callable[[float], float]) -> None:
    colour = palette.series(one.number).light
    xs = [aside(point.at) for point in one.points]
    ys = [point.middle * shown.factor for point in one.points]
    axes.plot(xs, ys, color=colour, linestyle=DASHES[one.number % len(DASHES)], label=one.label,
              marker=MARKERS[one.number % len(MARKERS)], markerfacecolor=colour, markeredgecolor=colour)  # fmt: skip
    for x, y, point in zip(xs, ys, one.points, strict=True):
        if not filled(one, point):
            axes.plot([x], [y], color=colour, marker=MARKERS[one.number % len(MARKERS)], zorder=3,
                      markerfacecolor=palette.PAPER.light, markeredgecolor=colour, markeredgewidth=1.6)  # fmt: skip
        axes.vlines(x, point.low * shown.factor, point.high * shown.factor, color=colour,
                    linewidth=2.2 if point.is_interval else 1.0)  # fmt: skip


def _aside(one: Series, found: Sequence[Series], levels: Sequence[float]) -> Callable[[float], float]:
    """Keep the whiskers of two topologies from lying on each other."""
    place = [other.number for other in found].index(one.number) - (len(found) - 1) / 2
    if len(levels) < 2:
        return lambda at: at + 0.03 * place * max(1.0, at)
    if _by_ratio(levels):
        return lambda at: at * 1.035**place
    step = min(after - before for before, after in pairwise(levels))
    return lambda at: at + 0.07 * step * place


def _levels(axes: Axes, levels: Sequence[float]) -> None:
    """Put a mark at each level that was measured, and at no other."""
    if _by_ratio(levels):
        axes.set_xscale("log")
    # Labels that would touch are left out; the last one never is.
    span = levels[-1] - levels[0]
    kept: list[float] = []
    for level in reversed(levels):
        if not kept or _by_ratio(levels) or kept[-1] - level > 0.075 * span:
            kept.append(level)
    axes.set_xticks(kept, [f"{level:,g}" for level in kept])
    axes.set_xticks([], minor=True)


def _by_ratio(levels: Sequence[float]) -> bool:
    return len(levels) > 2 and levels[0] > 0 and levels[-1] / levels[0] >= _APART


def _turns(one: Series) -> str:
    peak = max(one.points, key=lambda point: point.middle)
    if peak in (one.points[0], one.points[-1]) or peak.middle < 1.05 * max(one.points[0].middle, one.points[-1].middle):
        return ""
    return f", with its highest value at {peak.at:g}"
