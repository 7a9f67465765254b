import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from report.figures import draw_modes, draw_quota
from tests.report.test_modes import RUNS as MODES
from tests.report.test_quota import RUNS as QUOTA


@pytest.mark.thorough
def test_the_same_runs_give_the_same_plot(tmp_path: Path) -> None:
    for number in (1, 2):
        draw_modes({"vLLM": MODES, "stand-in (simulated)": MODES[:2]}, tmp_path / f"modes-{number}.svg")
        draw_quota(QUOTA, tmp_path / f"quota-{number}.svg")
    for name in ("modes", "quota"):
        first = (tmp_path / f"{name}-1.svg").read_bytes()
        assert first == (tmp_path / f"{name}-2.svg").read_bytes()
        assert ET.fromstring(first).tag.endswith("svg")  # noqa: S314  our own


def test_another_run_changes_the_plot(tmp_path: Path) -> None:
    draw_modes({"vLLM": MODES}, tmp_path / "all.svg")
    draw_modes({"vLLM": MODES[:2]}, tmp_path / "two.svg")
    assert (tmp_path / "all.svg").read_bytes() != (tmp_path / "two.svg").read_bytes()
