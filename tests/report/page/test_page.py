"""The page's text: what it says in which order, and that nothing in it obeys a record or asks the network."""

import base64
import json
import re
import xml.etree.ElementTree as ET
from collections import Counter
from datetime import UTC, datetime
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from report.page.directory import files
from report.page.page import page
from report.page.report import Made, Report, Source, report
from report.statistics.design import Design
from report.verdict.capacity import Money
from report.verdict.reading import Named, read
from report.verdict.verdict import Verdict, judge
from tests.benchmark.records import REAL, repeat, reply
from tests.report.demonstration import SMALL, demonstrate
from tests.report.verdict.standin import SINGLE, SPLIT
from tests.report.verdict.test_reading import write

pytestmark = pytest.mark.thorough
MADE = Made(datetime(2026, 12, 1, tzinfo=UTC), "splitbed compare a b", {"Splitbed": "0.1.0", "numpy": "2"})


class Structure(HTMLParser):
    """Elements in order, with their attributes and the elements that they are in."""

    VOID = frozenset({"meta", "link", "br", "path", "use", "circle"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None], tuple[str, ...]]] = []
        self._open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs), tuple(self._open)))
        if tag not in self.VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in self._open:
            del self._open[len(self._open) - 1 - self._open[::-1].index(tag) :]

    def all(self, *tags: str) -> list[dict[str, str | None]]:
        return [attributes for tag, attributes, _ in self.elements if tag in tags]


def made(reading: Any, verdict: Verdict) -> Report:
    found = report(reading, verdict, MADE, "# The method\n")
    return Report(**(vars(found) | {"sources": (Source("", "a", "a", 12), Source("mine", "b c", "b%20c", 1))}))


@pytest.fixture(scope="module")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> Report:
    directory = tmp_path_factory.mktemp("demonstration")
    demonstrate(directory, "spps", SMALL)
    reading = read([Named(directory)])
    money = {arm.label: Money(topology=arm.label, usd_per_hour=0.5, source="of this test") for arm in reading.arms}
    return made(reading, judge(reading, Design(), money))


@pytest.fixture(scope="module")
def text(simulated: Report) -> str:
    return page(simulated)


def test_all_parts_are_there_in_their_order(simulated: Report, text: str) -> None:
    assert simulated.absent == ()
    headings = re.findall(r'<h2 id="([^"]+)"', text)
    assert headings == ["table", "load", "gaps", "interference", "prompt-length", "follow-up", "pods", "cost", "run",
                        "left-out", "data", "decision", "goodput", "modes", "method"]  # fmt: skip
    assert text.index("<h1>") < text.index('id="table"')
    links = [element["href"] for element in Structure(text).all("a") if (element["href"] or "").startswith("#")]
    assert links == ["#answer", *(f"#{name}" for name in sorted(headings, key=_nav(headings)))]


def _nav(headings: list[str]) -> Any:
    """Goodput's picture is among the pictures in the list of links, wherever its part is."""
    order = ["table", *(one for one in headings if one in ("load", "gaps", "interference", "prompt-length", "follow-up",
                                                           "pods", "cost", "goodput"))]  # fmt: skip
    return lambda name: order.index(name) if name in order else len(order) + headings.index(name)


def test_simulated_is_said_in_title_headline_every_picture_and_every_caption(simulated: Report, text: str) -> None:
    assert "<title>Simulated: " in text
    assert "<h1>Simulated: " in text
    pictures = re.findall(r'<svg [^>]*role="img".*?</svg>', text, re.DOTALL)
    assert len(pictures) == sum(len(chart.panels) for chart in simulated.charts.values()) > 10
    assert all(">simulated<" in picture for picture in pictures)
    for chart in simulated.charts.values():
        assert f'<h2 id="{chart.slug}">{chart.title} <span class="mark">(simulated)</span>' in text


def test_nothing_is_asked_of_the_network(text: str) -> None:
    structure = Structure(text)
    assert structure.all("script", "iframe", "img", "object", "embed") == []
    assert "@import" not in text
    for element in structure.all("link", "a", "use", "image"):
        address = element.get("href") or element.get("xlink:href") or ""
        assert address.startswith(("#", "data:", "a", "b%20c")), address
    assert re.findall(r"url\((?!#)", text) == []


def test_who_cannot_see_or_point_is_served(text: str) -> None:
    structure = Structure(text)
    assert structure.all("html")[0]["lang"] == "en"
    assert all(element.get("aria-label") for element in structure.all("svg") if element.get("role") == "img")
    assert all(element.get("aria-hidden") == "true" for element in structure.all("svg") if element.get("role") != "img")
    ids = Counter(attributes["id"] for _, attributes, _ in structure.elements if attributes.get("id"))
    assert [name for name, count in ids.items() if count > 1] == []
    assert all(attributes.get("aria-labelledby", "answer") in ids for _, attributes, _ in structure.elements)
    headings = [int(tag[1]) for tag, _, _ in structure.elements if re.fullmatch("h[1-6]", tag)]
    assert headings.count(1) == 1
    assert all(later - earlier <= 1 for earlier, later in pairwise(headings))
    tables = len(structure.all("table"))
    assert tables > 8
    assert len(structure.all("caption")) == tables
    assert all(element.get("scope") in ("row", "col") for element in structure.all("th"))
    assert structure.elements[[tag for tag, _, _ in structure.elements].index("a")][1]["class"] == "skip"


def test_the_page_carries_the_verdict_and_the_method(simulated: Report, text: str) -> None:
    attached = dict(re.findall(r'download="([^"]+)" href="data:[^;]+;base64,([^"]+)"', text))
    assert Verdict.model_validate_json(base64.b64decode(attached["verdict.json"])) == simulated.verdict
    assert base64.b64decode(attached["method.md"]) == b"# The method\n"


def test_what_was_run_names_versions_machines_and_client(simulated: Report, text: str) -> None:
    (single, split) = (dict(one.facts) for one in simulated.provenance)
    assert single["engine"] == "simulated: stand-in of vLLM 0.31.0, profile post-1b-single"
    assert split["machines"] == "leader on node-0 (simulated.large); worker on node-1 (simulated.large)"
    assert split["image"] == "standin:1 (standin@sha256:1)"
    assert single["server"] == "not recorded"
    assert single["client"] == "p on n"
    assert single["runs, repeats"] == "2, 40"
    assert "numpy 2" in text


def test_no_record_writes_into_the_page(tmp_path: Path) -> None:
    evil = REAL.model_copy(update={"version": "<script>alert(1)</script>"})
    topology = {"kind": 'x" onload="y', "note": "$\\frac{\x1b[31m"}
    write(tmp_path / "a", repeat(1, reply(gaps_s=(0.25,) * 12), engine=evil, topology=SINGLE))
    write(tmp_path / "b", repeat(1, reply(gaps_s=(0.25,) * 12), engine=evil, topology=topology, run="2"))
    reading = read([Named(tmp_path)])
    evil_report = made(reading, judge(reading, Design(), {}))
    text = page(evil_report)
    assert "<script" not in text
    for name, content in files(evil_report):
        if name.endswith(".svg"):
            assert b"frac" in content
            ET.fromstring(content)  # noqa: S314  our own
    assert not any("onload" in attributes for _, attributes, _ in Structure(text).elements)
    assert "&lt;script&gt;alert(1)" in text


def test_of_three_topologies_each_row_names_its_two(tmp_path: Path) -> None:
    for number, topology in enumerate((SINGLE, SPLIT, SPLIT | {"pipeline": 3})):
        write(tmp_path / str(number), repeat(1, engine=REAL, topology=topology, run=str(number)))
    reading = read([Named(tmp_path)])
    text = page(made(reading, judge(reading, Design(), {})))
    assert '<th scope="col" role="columnheader">first</th>' in text
    whose = re.findall(r'<small class="whose">([^<]+)</small>', text)
    assert whose[:2] == ["single (tensor 1)", "split (pipeline 2, tensor 1)"]
    assert "split (pipeline 3, tensor 1)" in whose


def test_modes_are_named_where_they_are_compared(text: str) -> None:
    assert '<small class="whose">split (pipeline 2, tensor 1) [one batch]</small>' in text


def test_what_is_left_out_is_named_records_and_figures(tmp_path: Path) -> None:
    write(tmp_path / "a", repeat(1, engine=REAL, topology=SINGLE), repeat(2, engine=REAL, disturbed=("a pod died",)))
    write(tmp_path / "b", repeat(1, engine=REAL, topology=SPLIT, run="2"))
    reading = read([Named(tmp_path)])
    text = page(made(reading, judge(reading, Design(), {})))
    assert "disturbed: a pod died" in text
    for title in ("Follow-up, warm against cold: no result", "Cost: no price", "Gaps between tokens: no result"):
        assert f"<li>{title}" in text
    assert "imulated" not in re.sub(r"<style>.*?</style>", "", text, flags=re.DOTALL)


def test_the_directory_has_every_picture_twice_and_markdown_that_shows_them(simulated: Report) -> None:
    found = dict(files(simulated))
    pictures = {name for name in found if name.startswith("figures/")}
    assert len(pictures) == 2 * sum(len(chart.panels) for chart in simulated.charts.values())
    assert all(re.fullmatch(r"figures/[a-z0-9-]+\.(svg|png)", name) for name in pictures)
    markdown = found["report.md"].decode()
    assert set(re.findall(r"\]\((figures/[^)]+)\)", markdown)) == {name for name in pictures if name.endswith(".svg")}
    assert markdown.splitlines()[2] == f"**{simulated.headline}**"
    assert json.loads(found["verdict.json"])["schema_version"] == 1
    linked = {element["href"] for element in Structure(found["index.html"].decode()).all("a")}
    assert pictures <= linked
