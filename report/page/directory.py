"""The report as files: the page, Markdown, the verdict for programs, and every picture as SVG and PNG."""

import re
from collections.abc import Iterator

from report.charts import canvas
from report.charts.chart import Chart
from report.compare_markdown import Picture, as_markdown
from report.page.page import page
from report.page.report import Report

FIGURES = "figures"
VERDICT = "verdict.json"
INDEX = "index.html"


def files(found: Report) -> Iterator[tuple[str, bytes]]:
    """Return every file with its content, by its path within the directory; the same report gives the same files."""
    pictures = []
    for chart in found.charts.values():
        for number, panel in enumerate(chart.panels):
            name = file_name(chart, number)
            yield f"{name}.svg", canvas.alone(panel).encode()
            yield f"{name}.png", canvas.png(panel)
            pictures.append(Picture(chart.title, chart.caption, panel.alt, f"{name}.svg"))
    yield INDEX, page(found, file_name).encode()
    yield "report.md", as_markdown(found.verdict, found.headline, pictures).encode()
    yield VERDICT, found.verdict.to_json().encode()
    if found.method:
        yield "method.md", found.method.encode()


def file_name(chart: Chart, number: int) -> str:
    """Return the path of a picture within the directory, without its ending."""
    name = re.sub(r"[^a-z0-9]+", "-", chart.panels[number].name.lower()).strip("-")
    return f"{FIGURES}/{chart.slug}-{number + 1}-{name}"
