"""A report of many runs is soon made."""

import time
from pathlib import Path

import pytest

from scripts.main import app
from tests.report.demonstration import SMALL, demonstrate

pytestmark = pytest.mark.thorough

RUNS, SECONDS = 50, 10


def test_fifty_runs_are_reported_in_ten_seconds(tmp_path: Path) -> None:
    """By the processor's time, since this machine may be busy; copies of two runs, which differ by name and moment."""
    demonstrate(tmp_path / "two", "sp", SMALL)
    for number in range(RUNS):
        for path in (tmp_path / "two" / f"turn-{number % 2}").rglob("*.json"):
            text = path.read_text().replace(f'"run": "turn-{number % 2}"', f'"run": "run-{number}"')
            text = text.replace('"started_at": "2026-', f'"started_at": "{2027 + number}-')
            copy = tmp_path / "fifty" / str(number) / path.name
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_text(text)
    begun = time.process_time()
    with pytest.raises(SystemExit) as ended:
        app(["compare", str(tmp_path / "fifty"), "--html", str(tmp_path / "page.html")])
    assert ended.value.code == 0
    assert time.process_time() - begun < SECONDS
    text = (tmp_path / "page.html").read_text()
    assert text.count("25 runs, ") > 10
