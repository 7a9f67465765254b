"""Paper, pens and the three ways out: SVG within a page, SVG as a file, PNG."""

import io
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from report.charts import palette
from report.charts.chart import Panel

WIDTH, HEIGHT = 380, 300
"""Of a panel, in CSS pixels: nearly what a phone shows, so that its letters are as large as they are drawn."""
_DOT = 72  # matplotlib's SVG has one unit a point
_PNG_DPI = 180
_FONT = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif"
SIMULATED = "simulated"
MARKERS = ("o", "s", "^", "D", "v", "P")
DASHES = ("-", (0, (5, 2)), (0, (1, 1.5)), (0, (6, 2, 1, 2)), "-", (0, (5, 2)))

_PAINTED = re.compile("|".join(colour.light for colour in palette.ALL))
_NAMES = {colour.light: colour for colour in palette.ALL}
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
"""What no XML may hold, and a record's names might."""
_STYLE: dict[Any, Any] = {
    "svg.hashsalt": "splitbed",
    "svg.fonttype": "none",
    "font.size": 11,
    "font.family": "DejaVu Sans",
    "axes.edgecolor": palette.QUIET.light,
    "axes.facecolor": "none",
    "axes.grid": True,
    "axes.labelcolor": palette.INK.light,
    "axes.labelsize": 11,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "figure.facecolor": palette.PAPER.light,
    "grid.color": palette.RULE.light,
    "grid.linewidth": 0.7,
    "legend.frameon": False,
    "legend.fontsize": 10.5,
    "legend.labelcolor": palette.INK.light,
    "lines.linewidth": 1.8,
    "lines.markersize": 6,
    "text.color": palette.INK.light,
    "text.parse_math": False,  # names are names, dollars or not
    "xtick.color": palette.QUIET.light,
    "ytick.color": palette.QUIET.light,
    "xtick.labelcolor": palette.INK.light,
    "ytick.labelcolor": palette.INK.light,
    "xtick.labelsize": 10.5,
    "ytick.labelsize": 10.5,
}


@contextmanager
def panel(
    title: str, *, simulated: bool, height: float = HEIGHT, width: float = WIDTH
) -> Iterator[tuple[Figure, Axes]]:
    """Open a panel to be drawn; what is simulated says so in the picture itself."""
    with _styled():
        figure = Figure(figsize=(width / _DOT, height / _DOT), layout="constrained")
        axes = figure.subplots()
        # At the picture's edge, not at the axes': titles need the whole width. A second line is kept free for the mark.
        figure.suptitle(f"{title}\n " if simulated else title, x=0.012, ha="left", size=12, weight="bold")
        if simulated:
            figure.text(0.012, 1 - 35 / height, SIMULATED, color=palette.ALERT.light, weight="bold", size=10)
        yield figure, axes
        handles, labels = axes.get_legend_handles_labels()
        if handles:
            figure.legend(handles, labels, loc="outside lower left", ncols=_columns(labels), handlelength=2.4)
        # What a formatter or a layout reads from the style is read now, while it is ours; laid out once, it stays so,
        # for each further time would move it by a hair.
        figure.draw_without_rendering()
        axes.set_position(axes.get_position())
        figure.set_layout_engine("none")


def inline(one: Panel, prefix: str) -> str:
    """Return an `<svg>` for a page whose style sheet sets the variables of the palette.

    Args:
        one: the panel.
        prefix: put before every id, so that pictures of one page do not take each other's.
    """
    return _themed(one, prefix, "")


def alone(one: Panel) -> str:
    """Return the content of an SVG file that follows the reader's colour scheme by itself."""
    light, dark = (
        "".join(f"--{colour.name}:{getattr(colour, scheme)};" for colour in palette.ALL) for scheme in ("light", "dark")
    )
    style = f"<style>svg{{{light}}}@media (prefers-color-scheme:dark){{svg{{{dark}}}}}</style>"
    return '<?xml version="1.0" encoding="utf-8"?>\n' + _themed(one, "", style) + "\n"


def png(one: Panel) -> bytes:
    """Return a PNG on light paper."""
    out = io.BytesIO()
    with _styled():
        one.figure.savefig(out, format="png", dpi=_PNG_DPI, metadata={"Software": None})
    return out.getvalue()


@contextmanager
def _styled() -> Iterator[None]:
    """Draw in our style; of letters that the font for PNG lacks SVG has no need."""
    with mpl.rc_context(_STYLE), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")
        yield


def _columns(labels: list[str]) -> int:
    """Return how many labels fit beside each other."""
    return max(1, min(len(labels), int(WIDTH // (44 + 6.6 * max(map(len, labels))))))


def _themed(one: Panel, prefix: str, style: str) -> str:
    out = io.StringIO()
    with _styled():
        one.figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    drawn = out.getvalue()
    body = drawn[drawn.index("<svg") :].strip()
    # A style of matplotlib's own would hold for the whole page; ours says the same of pictures alone.
    body = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->|<defs>\s*<style.*?</defs>", "", body, flags=re.DOTALL)
    body = _own_ids(body, prefix)
    # In a style a variable may stand; in an attribute of its own it may not, and matplotlib writes none.
    body = _PAINTED.sub(lambda found: _NAMES[found.group()].css, body)
    body = re.sub(r"'DejaVu Sans'(, [\w' -]+)*", _FONT, body)
    head, _, rest = body.partition(">")
    box = re.search(r'viewBox="([^"]+)"', head)
    if box is None:
        raise ValueError("matplotlib wrote an SVG without a viewBox")
    opening = (
        f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
        f'viewBox="{box.group(1)}" role="img" aria-label="{escape(one.alt)}" stroke-linejoin="round">'
    )
    whole = _CONTROL.sub("\N{REPLACEMENT CHARACTER}", opening + style + rest)
    return "\n".join(line.rstrip() for line in whole.splitlines() if line.strip())


def _own_ids(svg: str, prefix: str) -> str:
    """Drop ids that nothing refers to, and give the others a name of the picture's own."""
    used = set(re.findall(r'(?:url\(#|href="#)([^)"]+)', svg))
    svg = re.sub(r' id="([^"]+)"', lambda found: f' id="{prefix}{found[1]}"' if found[1] in used else "", svg)
    return re.sub(r'(url\(#|href="#)', lambda found: found[1] + prefix, svg)
