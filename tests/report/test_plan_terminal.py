"""A plan as it is printed."""

import io
from typing import Any

import pytest
from rich.console import Console

from experiment.plan.plan import make
from report.plan_terminal import WIDTH, as_terminal, bar
from tests.experiment.plan.samples import GEMMA_1B, GEMMA_12B, NOW, settings


def printed(sample: dict[str, Any], width: int = WIDTH, **changes: Any) -> str:
    console = Console(file=io.StringIO(), width=width)
    console.print(as_terminal(make(settings(sample, **changes), NOW)))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_what_decides_comes_first() -> None:
    lines = printed(GEMMA_12B, engine__max_model_len=4096).splitlines()
    assert "gemma-12b-split" in lines[1]
    assert lines[1].rstrip(" ┃").endswith("refused")
    text = " ".join(line.strip("│ ") for line in lines)
    assert "needs 0.68 GiB of KV cache, and 0.37 GiB are available; the engine proposes 2,048 tokens." in text
    assert text.index("kv-cache-refused") < text.index("another-instance-avoids-split") < text.index("Memory")


def test_all_sections_are_there_and_no_line_is_wider_than_asked() -> None:
    for width in (WIDTH, 80, 60):
        text = printed(GEMMA_1B, width=width)
        for title in ("Advice", "Memory", "KV cache", "Placement", "Time", "Money", "Expected speed"):
            assert f" {title}" in text
        assert max(map(len, text.splitlines())) <= width


def test_a_mistake_is_marked_until_it_is_accepted() -> None:
    assert "mistake  split-fits-one-pod" in printed(GEMMA_1B)
    assert "accepted  split-fits-one-pod" in printed(GEMMA_1B, accept=["split-fits-one-pod"])


def test_what_a_person_wrote_is_no_markup() -> None:
    assert "[bold]a[/] :smile: [/x]" in printed(GEMMA_1B, purpose="[bold]a[/] :smile: [/x]")


@pytest.mark.parametrize(
    ("parts", "drawn"),
    [
        ([(5.0, "red")], "▇▇▇▇▇╌╌╌╌╌"),
        ([(5.0, "red"), (5.0, "blue")], "▇▇▇▇▇▇▇▇▇▇"),
        ([(20.0, "red")], "▇▇▇▇▇▇▇▇▇▶"),
        ([], "╌╌╌╌╌╌╌╌╌╌"),
    ],
)
def test_a_bar_is_as_long_as_asked(parts: list[tuple[float, str]], drawn: str) -> None:
    assert bar(parts, 10, 10).plain == drawn
