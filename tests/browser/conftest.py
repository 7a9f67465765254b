"""A real Chromium without a window, and the pages that it opens."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright
from rich.console import Console

from rehearsal.packages import browser, ensure_packages
from rehearsal.progress import ConsoleProgress
from scripts.main import app
from tests.report.demonstration import SMALL, demonstrate

POSTS = Path(__file__).parents[1] / "report" / "verdict" / "data"


@pytest.fixture(scope="module")
def chromium(pages: dict[str, Path]) -> Iterator[Browser]:
    """Debian's own: what playwright would fetch is of no distribution.

    Pages are made before, and it ends with its module: it has an event loop running, and no other may
    run beside that.
    """
    ensure_packages(["browser"], ConsoleProgress(Console(stderr=True)))
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=browser())
        yield found
        found.close()


@pytest.fixture(scope="session")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Every kind of test, simulated; the GPU post's table; and results of which one topology has hardly any."""
    root = tmp_path_factory.mktemp("pages")
    demonstrate(root / "simulated", "spps", SMALL)
    gpu = [str(POSTS / f"post-gpu-{name}.json") for name in ("tp4x1", "tp2x2")]
    bare = [str(POSTS / f"post-1b-{name}.json") for name in ("single", "split")]
    found = {}
    for name, arguments in (("simulated", [str(root / "simulated"), "--hourly", "single (tensor 1)=0.2"]),
                            ("gpu", [*gpu, "--hourly", "TP=2 x 2=20.88"]), ("post", bare)):  # fmt: skip
        found[name] = root / f"{name}.html"
        with pytest.raises(SystemExit) as ended:
            app(["compare", *arguments, "--html", str(found[name])])
        assert ended.value.code == 0
    return found
