"""The picture of a report in the README: `python -m tests.browser.picture REPORT.html OUT.png`.

Two looks at one page, a desk by day and a phone by night, side by side.
"""

import base64
import sys
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from rehearsal.packages import browser

_BOTH = """<body style="margin:0;display:flex;gap:28px;padding:28px;background:#cfd4d8">
<img style="border-radius:8px;box-shadow:0 2px 14px #0005" src="data:image/png;base64,{desk}">
<img style="border-radius:22px;box-shadow:0 2px 14px #0007" src="data:image/png;base64,{phone}"></body>"""


def picture(page: Path, out: Path) -> None:
    """Take it."""
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=browser())
        desk = _look(chromium, page, 1000, 780, "light", "h1")
        phone = _look(chromium, page, 380, 780, "dark", "#interference")
        both = chromium.new_page(viewport={"width": 1464, "height": 836})
        both.set_content(_BOTH.format(desk=desk, phone=phone))
        both.wait_for_load_state("networkidle")
        both.screenshot(path=out)
        chromium.close()


def _look(chromium: Browser, path: Path, width: int, height: int, scheme: str, at: str) -> str:
    context = chromium.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)  # type: ignore[arg-type]  # light or dark
    page = context.new_page()
    page.goto(path.resolve().as_uri())
    page.locator(at).evaluate("element => window.scrollTo(0, element.getBoundingClientRect().top - 40)")
    return base64.b64encode(page.screenshot()).decode()


if __name__ == "__main__":
    picture(Path(sys.argv[1]), Path(sys.argv[2]))
