import re
import xml.etree.ElementTree as ET

import pytest

from report.charts import canvas, palette
from report.charts.chart import Panel
from report.charts.lines import lines
from report.charts.series import Point, Series

pytestmark = pytest.mark.thorough

TWO = (
    Series("<one> & two", 0, (Point(1, 10, 9, 11, 3), Point(8, 20, 18, 22, 3))),
    Series("other", 1, (Point(1, 8, 8, 8, 1), Point(8, 24, 20, 28, 1))),
)


def drawn() -> Panel:
    return lines("n", "Tokens", "users", "tokens/s", TWO, simulated=True)


def test_a_picture_within_a_page_takes_its_colours_from_it() -> None:
    svg = canvas.inline(drawn(), "a-")
    assert "var(--first, #1f5f8b)" in svg
    assert "var(--alert" in svg
    bare = re.sub(r"var\(--[a-z]+, #[0-9a-f]{6}\)", "", svg)
    assert re.findall(r"#[0-9a-fA-F]{6}\b", bare) == []  # no colour that would stay as it is on dark paper
    assert "<style" not in svg
    assert "DejaVu Sans Mono" not in svg


def test_ids_of_two_pictures_of_one_page_differ_and_lead_somewhere() -> None:
    for prefix in ("a-", "b-"):
        svg = canvas.inline(drawn(), prefix)
        ids = set(re.findall(r' id="([^"]+)"', svg))
        assert ids
        assert all(one.startswith(prefix) for one in ids)
        assert set(re.findall(r'(?:url\(#|href="#)([^)"]+)', svg)) == ids


def test_who_cannot_see_it_is_told_and_names_are_no_markup() -> None:
    root = ET.fromstring(canvas.inline(drawn(), ""))  # noqa: S314  our own
    assert root.get("role") == "img"
    said = root.get("aria-label") or ""
    assert "<one> & two rises from 10.0 tokens/s at 1 to 20.0 tokens/s at 8." in said
    assert "simulated" in "".join(root.itertext())


def test_a_picture_by_itself_follows_the_readers_colours() -> None:
    svg = canvas.alone(drawn())
    assert "@media (prefers-color-scheme:dark)" in svg
    assert f"--first:{palette.SERIES[0].dark}" in svg
    assert ET.fromstring(svg).tag.endswith("svg")  # noqa: S314  our own


def test_the_same_figures_give_the_same_files() -> None:
    assert canvas.alone(drawn()) == canvas.alone(drawn())
    assert canvas.png(drawn()) == canvas.png(drawn())
    assert canvas.png(drawn()).startswith(b"\x89PNG")


def test_the_legend_lies_below_the_axes_and_their_labels() -> None:
    figure = drawn().figure
    figure.draw_without_rendering()
    (legend,) = figure.legends
    assert legend.get_window_extent().y1 <= figure.axes[0].get_tightbbox().y0  # type: ignore[union-attr]
    assert figure.axes[0].get_tightbbox().x1 > 0.97 * figure.bbox.width  # type: ignore[union-attr]


def test_an_interval_beyond_all_measure_does_not_flatten_the_others() -> None:
    wide = Series("wide", 0, (Point(1, 10, 1e-9, 1e12, 2), Point(2, 12, 11, 13, 2)))
    axes = lines("n", "t", "users", "", [wide], simulated=False).figure.axes[0]
    assert axes.get_ylim()[1] < 30
