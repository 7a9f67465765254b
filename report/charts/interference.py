"""What a reader sees while somebody else's long prompt is read: the open stream's tokens over time."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from report.charts import canvas, palette
from report.charts.chart import Chart, Numbers, Panel
from report.charts.scale import number, scale
from report.charts.series import cells
from report.verdict.reading import Arm
from report.verdict.samples import Cell, records_of

_OTHERS = 12
_BEFORE_S = 1.0
_HOW = (
    "Tokens that the open stream has received, over the time since somebody else's long prompt was sent; a level line "
    "is a freeze. Drawn strong is the repeat whose stall is the median, faintly the other repeats. The band ends when "
    "the long prompt has its first token."
)


@dataclass(frozen=True)
class Stream:
    """One repeat: when the stream's tokens came, in seconds since the long prompt was sent, and what it did to them."""

    arrivals: tuple[float, ...]
    stall_s: float
    longest_gap_s: float
    baseline_gap_s: float
    long_ttft_s: float

    @property
    def freeze(self) -> tuple[float, float]:
        """Begin and end of the longest gap that ended after the long prompt was sent."""
        after = [gap for gap in pairwise(self.arrivals) if gap[1] > 0]
        return max(after, key=lambda gap: gap[1] - gap[0], default=(0.0, 0.0))

    def received(self, at: float) -> int:
        """Return how many tokens had come."""
        return sum(arrival <= at for arrival in self.arrivals)


def interference(arms: Sequence[Arm], *, simulated: bool) -> Chart | None:
    """Draw the longest of the long prompts, a panel a topology, all on the same axes."""
    found = [(cell, streams_of(arms, cell)) for cell in cells(arms, "interference")]
    found = [(cell, streams) for cell, streams in found if streams]
    if not found:
        return None
    cell, streams = found[-1]
    typical = {label: of_one[len(of_one) // 2] for label, of_one in streams.items()}
    end = max(max(one.freeze[1], one.long_ttft_s) for one in typical.values())
    span = (-max(_BEFORE_S, 0.25 * end), 1.25 * end + 0.2)
    # Counted from the left edge on, so that what came earlier does not flatten the picture.
    top = max(one.received(span[1]) - one.received(span[0]) for one in typical.values())
    panels = [
        _panel(label, [arm.label for arm in arms].index(label), of_one, span, top, simulated)
        for label, of_one in streams.items()
    ]
    rows = [_row(of_cell, label, of_one) for of_cell, by_label in found for label, of_one in by_label.items()]
    columns = ("test", "topology", "repeats", "median stall, s", "least, s", "most, s", "gap before, ms",
               "long prompt's first token, s")  # fmt: skip
    title = f"A stream while a prompt of {cell.value:,} tokens arrives"
    return Chart("interference", title, _HOW, tuple(panels), Numbers(columns, tuple(rows)), simulated)


def streams_of(arms: Sequence[Arm], cell: Cell) -> dict[str, list[Stream]]:
    """Return every topology's repeats, by the length of their stall; those without figures are left out."""
    found = {}
    for arm in arms:
        of_one = []
        for record in records_of(arm, cell):
            figures = record.figures.interference
            stream = next((one for one in record.requests if one.role == "stream"), None)
            long = next((one for one in record.requests if one.role == "long-prompt"), None)
            if figures is None or stream is None or long is None:
                continue
            if stream.outcome.result != "finished" or long.outcome.result != "finished":
                continue
            sent = long.outcome.stamps.sent_s
            of_one.append(Stream(
                tuple(at - sent for at in stream.outcome.stamps.chunks_s), figures.stall_s, figures.longest_gap_s,
                figures.baseline_gap_s, figures.long_ttft_s))  # fmt: skip
        if of_one:
            found[arm.label] = sorted(of_one, key=lambda one: one.stall_s)
    return found


def drawn(streams: Sequence[Stream]) -> list[Stream]:
    """Return the repeats that are drawn: the median, and of many others some from the least stall to the most."""
    middle = len(streams) // 2
    others = [one for place, one in enumerate(streams) if place != middle]
    if len(others) > _OTHERS:
        others = [others[round(place * (len(others) - 1) / (_OTHERS - 1))] for place in range(_OTHERS)]
    return [*others, streams[middle]]  # over the others


def _panel(
    label: str, number_: int, streams: Sequence[Stream], span: tuple[float, float], top: int, simulated: bool
) -> Panel:
    colour = palette.series(number_).light
    typical = streams[len(streams) // 2]
    begin, end = typical.freeze
    shown = scale("s", [typical.longest_gap_s])
    with canvas.panel(label, simulated=simulated) as (figure, axes):
        axes.axvspan(0, typical.long_ttft_s, color=palette.BAND.light, lw=0, zorder=0)
        for one in drawn(streams):
            strong = one is typical
            before = one.received(span[0])
            axes.step(
                [span[0], *(at for at in one.arrivals if at > span[0]), span[1]],
                [0, *(place + 1 for place, _ in enumerate(at for at in one.arrivals if at > span[0])),
                 len(one.arrivals) - before],
                where="post", color=colour, lw=2.2 if strong else 0.9, alpha=1.0 if strong else 0.35,
            )  # fmt: skip
        height = typical.received(begin) - typical.received(span[0])
        rise = 0.09 * top
        patch = {"boxstyle": "square,pad=0.15", "fc": palette.PAPER.light, "ec": "none", "alpha": 0.75}
        axes.annotate("", (begin, height + rise), (end, height + rise), arrowprops={
            "arrowstyle": "<->", "color": palette.INK.light, "shrinkA": 0, "shrinkB": 0})  # fmt: skip
        axes.text((begin + end) / 2, height + 1.35 * rise, shown.said(typical.longest_gap_s), ha="center", va="bottom",
                  weight="bold", bbox=patch)  # fmt: skip
        axes.set_xlim(*span)
        axes.set_ylim(0, top * 1.12)
        axes.set_xlabel("seconds since the long prompt was sent")
        axes.set_ylabel("tokens received")
    return Panel(label, _alt(label, streams, typical), figure)


def _alt(label: str, streams: Sequence[Stream], typical: Stream) -> str:
    stood = scale("s", [typical.longest_gap_s]).said(typical.longest_gap_s)
    said = (
        f"{label}: the stream, which had a token every {number(1000 * typical.baseline_gap_s)} ms, stands still for "
        f"{stood} as the long prompt arrives; that one's first token comes after {number(typical.long_ttft_s)} s."
    )
    if len(streams) > 1:
        ends = f"{streams[0].stall_s:.2f} to {streams[-1].stall_s:.2f} s"
        said += f" In {len(streams)} repeats the stall was {ends}."
    return said


def _row(cell: Cell, label: str, streams: Sequence[Stream]) -> tuple[str, ...]:
    typical = streams[len(streams) // 2]
    stalls = (typical.stall_s, streams[0].stall_s, streams[-1].stall_s)
    return (cell.name, label, str(len(streams)), *(f"{stall:.3f}" for stall in stalls),
            f"{1000 * typical.baseline_gap_s:.2f}", f"{typical.long_ttft_s:.3f}")  # fmt: skip
