"""How the gaps between tokens are distributed, and the modes in which they lie."""

from collections.abc import Sequence
from itertools import chain

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from report.charts import canvas, palette
from report.charts.canvas import DASHES
from report.charts.chart import Chart, Numbers, Panel, sentence
from report.charts.scale import Scale, scale
from report.charts.series import cells
from report.verdict.modes import KINDS, Modes
from report.verdict.reading import Arm
from report.verdict.samples import Cell, records_of

MOST = 6
"""Panels; cells with modes come first, then one user alone, then the most users."""
_BINS = 44
_WIDE = 6
_FEWEST = 8
_HOW = (
    "The share of all gaps between two tokens of a stream, by their length, on a scale of ratios; nothing is averaged "
    "away. A triangle stands over the median gap of each mode that was told apart."
)


def gaps(arms: Sequence[Arm], modes: Sequence[Modes], *, simulated: bool) -> Chart | None:
    """Draw the gaps of one user alone, of the most users, and wherever there are modes."""
    known = [cell for kind in sorted(KINDS) for cell in cells(arms, kind)]
    values = {cell: {arm.label: _gaps(arm, cell) for arm in arms} for cell in known}
    usable = [cell for cell in known if any(len(of_one) >= _FEWEST for of_one in values[cell].values())]
    chosen = _chosen(usable, modes)
    if not chosen:
        return None
    labels = [arm.label for arm in arms]
    panels, rows = [], []
    for cell in chosen:
        of_cell = [one for one in modes if one.cell == cell.name]
        panels.append(_panel(cell, values[cell], labels, of_cell, simulated))
        rows += [_row(cell, label, found) for label, found in values[cell].items() if found]
    left = [cell.name for cell in usable if cell not in chosen]
    notes = (f"Not drawn, to keep this short: {', '.join(left)}. Their numbers are in the records.",) if left else ()
    columns = ("test", "topology", "gaps", "median, ms", "p90, ms", "p99, ms", "longest, ms", "of length 0")
    return Chart("gaps", "Gaps between tokens, and their modes", _HOW, tuple(panels),
                 Numbers(columns, tuple(rows)), simulated, notes)  # fmt: skip


def _chosen(usable: Sequence[Cell], modes: Sequence[Modes]) -> list[Cell]:
    modal = {one.cell for one in modes}
    most = max((cell for cell in usable if cell.kind == "concurrency"), key=lambda cell: cell.value or 0, default=None)
    first = [cell for cell in usable if cell.name in modal]
    first += [cell for cell in usable if cell.kind == "one-user"]
    first += [most] if most is not None else []
    return list(dict.fromkeys(first or usable))[:MOST]


def _gaps(arm: Arm, cell: Cell) -> list[float]:
    return [gap for record in records_of(arm, cell) for reply in record.replies for gap in reply.figures.gaps_s]


def _panel(
    cell: Cell, values: dict[str, list[float]], labels: Sequence[str], modes: Sequence[Modes], simulated: bool
) -> Panel:
    positive = {label: np.array([gap for gap in found if gap > 0]) for label, found in values.items()}
    positive = {label: found for label, found in positive.items() if found.size}
    together = np.concatenate(list(positive.values()))
    shown = scale("s", [float(np.median(together))])
    low, most = (float(value) * shown.factor for value in np.quantile(together, (0.002, 0.99)))
    high = max(most * 1.25, *(1.1 * share.gap_s * shown.factor for one in modes for share in one.shares), 0.0)
    # All gaps of one length still need a bin of some width.
    edges = np.geomspace(low * 0.97, max(high, low * 1.3) * 1.03, _BINS)
    said = []
    with canvas.panel(cell.name, simulated=simulated) as (figure, axes):
        top = 0.0
        for label, found in positive.items():
            number = labels.index(label)
            shares = 100 * np.histogram(found * shown.factor, edges)[0] / found.size
            top = max(top, float(shares.max()))
            colour = palette.series(number).light
            axes.stairs(shares, edges, color=colour, fill=True, alpha=0.22, lw=0)
            axes.stairs(shares, edges, color=colour, label=label, lw=1.6, ls=DASHES[number % len(DASHES)])
            said.append(f"{label}: half of {found.size:,} gaps are at most {shown.said(float(np.median(found)))}, "
                        f"99 of 100 at most {shown.said(float(np.quantile(found, 0.99)))}")  # fmt: skip
        for number, share in enumerate(chain.from_iterable(one.shares for one in modes)):
            owner = next(one for one in modes if share in one.shares)
            at, height = share.gap_s * shown.factor, top * (1.06 + 0.11 * (number % 3))
            colour = palette.series(labels.index(owner.topology)).light
            axes.plot([at], [height], marker="v", color=colour, ms=7)
            axes.annotate(f" {share.name}", (at, height), color=colour, size=9.5, va="center", xytext=(4, 0),
                          textcoords="offset points")  # fmt: skip
            said.append(f"{owner.topology} has a mode, {share.name}, at {shown.said(share.gap_s)}, "
                        f"{share.count} of {share.of}")  # fmt: skip
        axes.set_ylim(0, top * (1.45 if modes else 1.1) or 1)
        axes.set_xscale("log")
        beyond = together[together * shown.factor > edges[-1]]
        if beyond.size:
            longest = shown.said(float(beyond.max()))
            axes.annotate(f"{beyond.size} more, up to {longest} \u2192", (1, 0.62), xycoords="axes fraction",
                          ha="right", size=9.5, color=palette.QUIET.light)  # fmt: skip
            said.append(f"{beyond.size} gaps are longer than what is drawn, up to {longest}")
        _ticks(axes, edges, shown)
        axes.set_ylabel("% of gaps")
    return Panel(cell.name, f"Distribution of gaps between tokens in {cell.name}. {sentence(said)}.", figure)


def _ticks(axes: Axes, edges: NDArray[np.float64], shown: Scale) -> None:
    """Put round numbers on a scale of ratios, a few of them."""
    low, high = float(edges[0]), float(edges[-1])
    if high / low > _WIDE:
        powers = range(int(np.floor(np.log10(low))), int(np.ceil(np.log10(high))) + 1)
        round_ones = [step * 10.0**power for power in powers for step in (1, 2, 5)]
    else:
        round_ones = [float(value) for value in MaxNLocator(6).tick_values(low, high)]
    within = [value for value in round_ones if low <= value <= high]
    axes.set_xticks(within, [f"{value:.3g}" for value in within])
    axes.set_xticks([], minor=True)
    axes.set_xlabel(f"gap, {shown.unit}")


def _row(cell: Cell, label: str, found: Sequence[float]) -> tuple[str, ...]:
    known = np.array(found)
    quantiles = (f"{1000 * float(np.quantile(known, share)):,.4g}" for share in (0.5, 0.9, 0.99, 1.0))
    return (cell.name, label, f"{known.size:,}", *quantiles, str(int(np.sum(known == 0))))
