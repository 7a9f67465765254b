"""The report as a reader has it: on a phone and on a desk, by day and by night, by keyboard, and on paper."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser, Page

from report.charts.palette import TEXT_CONTRAST, contrast

pytestmark = pytest.mark.browser

Scheme = Literal["light", "dark"]
NAMES = ("simulated", "gpu", "post")
PHONE, DESK = (360, 740), (1280, 900)

LOOKS = (Path(__file__).parent / "looks.js").read_text(encoding="utf-8")


def seen(page: Page, what: str) -> Any:
    """Ask the page for one of looks.js."""
    return page.evaluate(f"(() => {{ {LOOKS}\nreturn {what}(); }})()")


@contextmanager
def opened(chromium: Browser, path: Path, size: tuple[int, int] = DESK, scheme: Scheme = "light") -> Iterator[Page]:
    """Open a page, and hold it to silence: no word on the console, nothing asked but the file itself."""
    context = chromium.new_context(viewport={"width": size[0], "height": size[1]}, color_scheme=scheme)
    page = context.new_page()
    said: list[str] = []
    asked: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(path.as_uri())
    yield page
    assert said == []
    assert [url for url in asked if not url.startswith("data:")] == [path.as_uri()]
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [PHONE, DESK], ids=["phone", "desk"])
@pytest.mark.parametrize("name", NAMES)
def test_it_fits_and_can_be_read(
    chromium: Browser, pages: dict[str, Path], name: str, size: tuple[int, int], scheme: Scheme
) -> None:
    with opened(chromium, pages[name], size, scheme) as page:
        for details in page.locator("details").all():
            details.evaluate("element => element.open = true")
        width = page.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
        assert width == [size[0], size[0]], seen(page, "tooWide")
        assert seen(page, "tooWide") == []
        assert seen(page, "cutOff") == []
        assert seen(page, "onEachOther") == []
        texts: list[tuple[str, str]] = seen(page, "texts")
        assert len(texts) > 3
        weak = [(pair, where) for pair, where in texts if contrast(*pair.split()) < TEXT_CONTRAST]
        assert weak == []
        paper = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
        assert (sum(map(int, paper[4:-1].split(","))) > 382) == (scheme == "light")


def test_letters_of_pictures_are_large_enough_on_a_phone(chromium: Browser, pages: dict[str, Path]) -> None:
    with opened(chromium, pages["simulated"], PHONE) as page:
        heights = seen(page, "letterHeights")
        assert len(heights) > 100
        assert min(heights) >= 8


def test_rows_are_cards_on_a_phone_and_a_table_still(chromium: Browser, pages: dict[str, Path]) -> None:
    with opened(chromium, pages["gpu"], PHONE) as page:
        table = page.get_by_role("table").first
        assert table.get_by_role("columnheader").count() == 6
        row = table.get_by_role("row").nth(1)
        assert row.get_by_role("rowheader").inner_text().startswith("concurrency-1")
        sides = [row.get_by_role("cell").nth(number).bounding_box() for number in (0, 1)]
        assert sides[0] is not None
        assert sides[1] is not None
        assert sides[0]["y"] == sides[1]["y"]  # beside each other


def test_the_keyboard_reaches_everything_and_shows_where_it_is(chromium: Browser, pages: dict[str, Path]) -> None:
    with opened(chromium, pages["simulated"]) as page:
        page.keyboard.press("Tab")
        skip = page.locator(":focus")
        assert skip.inner_text() == "Skip to the answer"
        box = skip.bounding_box()
        assert box is not None
        assert box["x"] >= 0
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.id") == "answer"
        stops: list[Any] = []
        for _ in range(200):
            page.keyboard.press("Tab")
            stop = seen(page, "focused")
            if stop[0] == "BODY" or stop in stops[:1]:
                break
            stops.append(stop)
        # Every link but the skip link, and every summary.
        assert len(stops) == page.locator("main a, main summary").count() > 25
        assert [stop for stop in stops if stop[2] == "none" or stop[3] < 2] == []
        page.locator("summary", has_text="The numbers").first.press("Enter")
        numbers = page.locator(".scrolls").first
        assert numbers.is_visible()
        assert numbers.get_attribute("tabindex") == "0"


def test_paper_is_white_whole_and_without_what_only_screens_need(chromium: Browser, pages: dict[str, Path]) -> None:
    with opened(chromium, pages["simulated"], scheme="dark") as page:
        page.emulate_media(media="print")
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        assert page.locator("nav").is_hidden()
        numbers = page.locator(".scrolls").first.bounding_box()
        assert numbers is not None
        assert numbers["height"] > 50  # folded on the screen, open on paper
        texts: list[tuple[str, str]] = seen(page, "texts")
        assert [pair for pair, _ in texts if contrast(*pair.split()) < TEXT_CONTRAST] == []
        assert page.pdf().startswith(b"%PDF")


def test_what_is_attached_can_be_saved(chromium: Browser, pages: dict[str, Path], tmp_path: Path) -> None:
    with opened(chromium, pages["gpu"]) as page:
        with page.expect_download() as waiting:
            page.get_by_role("link", name="verdict.json").click()
        assert waiting.value.suggested_filename == "verdict.json"
        waiting.value.save_as(tmp_path / "verdict.json")
        assert '"schema_version": 1' in (tmp_path / "verdict.json").read_text()
