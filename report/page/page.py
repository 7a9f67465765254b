"""The HTML file: one page that asks the network for nothing and runs no script."""

from base64 import b64encode
from collections.abc import Callable
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from report.charts import canvas, palette
from report.charts.chart import Chart
from report.page.report import Report
from report.page.whisker import HEIGHT, WIDTH, half_scale, whisker
from report.verdict import words
from report.verdict.comparison import Comparison, Difference

_TEMPLATES = Path(__file__).parent / "templates"
_WORDS = {"faster": "good", "slower": "bad", "no difference shown": "even"}


def page(found: Report, file_name: Callable[[Chart, int], str] | None = None) -> str:
    """Return the whole file.

    Args:
        found: what it says.
        file_name: where a chart's panel lies beside the file, without its ending; None if it lies nowhere.
    """
    verdict = found.verdict
    judged = [one for one in verdict.comparisons if one.judged]
    beside = [one for one in verdict.comparisons if not one.judged]
    half = half_scale(judged)
    # What withholds every word alike is said once, above.
    reasons = [one.withheld for one in judged]
    common = tuple(reason for reason in reasons[0] if all(reason in of_one for of_one in reasons)) if reasons else ()
    labels = [one.topology for one in verdict.subjects]

    def small(one: Comparison) -> Markup:
        return Markup() if one.difference is None else _small(one.difference, _WORDS.get(one.word or "", "none"), half)

    return _environment().get_template("report.html").render(
        report=found,
        verdict=verdict,
        title=" against ".join(labels),
        # A line for each topology but the first; those on workloads are the picks.
        said=verdict.answer[: len(labels) - 1],
        common=common,
        own=lambda one: "; ".join(reason for reason in one.withheld if reason not in common),
        sides=labels if len(labels) == 2 else ["first", "second"],
        number_of=lambda label: labels.index(label) if label in labels else None,
        series=[colour.name for colour in palette.SERIES],
        file_name=file_name,
        judged=judged,
        pods=[words.pod(one) for one in verdict.pods],
        beside=beside,
        words=words,
        small=small,
        badge=lambda one: _WORDS.get(one.word or "", "none"),
        picture=_picture,
        attached=_attached,
        style=Markup(_style()),  # noqa: S704  our own
    ) + "\n"  # fmt: skip


def _environment() -> Environment:
    return Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _picture(chart: Chart, number: int) -> Markup:
    prefix = f"{chart.slug}-{number}-"
    return Markup(canvas.inline(chart.panels[number], prefix))  # noqa: S704  its words were escaped there


def _attached(kind: str, text: str) -> Markup:
    """Return an address that holds a whole file."""
    return Markup(f"data:{kind};base64,{b64encode(text.encode()).decode()}")  # noqa: S704  letters and digits


def _small(difference: Difference, word: str, half: float) -> Markup:
    found = whisker(difference, half)
    middle = HEIGHT / 2
    ends = ""
    if found.low is not None and found.high is not None:
        ends = f'<path d="M{found.low} {middle:g}H{found.high}" class="ends"/>'
    return Markup(  # noqa: S704  numbers alone
        f'<svg class="whisker {word}" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'width="{WIDTH}" height="{HEIGHT}" '
        f'aria-hidden="true"><path d="M{found.zero} 1V{HEIGHT - 1}" class="zero"/>{ends}'
        f'<circle cx="{found.at}" cy="{middle:g}" r="4"/></svg>'
    )


def _style() -> str:
    def variables(scheme: str) -> str:
        return "".join(f"--{colour.name}:{getattr(colour, scheme)};" for colour in palette.ALL)

    return (
        f":root{{color-scheme:light dark;{variables('light')}}}\n"
        f"@media screen and (prefers-color-scheme:dark){{:root{{{variables('dark')}}}}}\n"
        + (_TEMPLATES / "style.css").read_text(encoding="utf-8")
    )
