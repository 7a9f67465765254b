"""A plan as a comment on a pull request."""

from typing import Any

from experiment.plan.plan import make
from report.plan_markdown import as_markdown
from tests.experiment.plan.samples import GEMMA_1B, GEMMA_12B, NOW, settings


def written(sample: dict[str, Any], **changes: Any) -> str:
    return as_markdown(make(settings(sample, **changes), NOW))


def test_the_first_lines_say_which_plan_and_its_verdict() -> None:
    lines = written(GEMMA_12B).splitlines()
    assert lines[0] == "<!-- splitbed plan: gemma-12b-split -->"
    assert lines[1] == "### gemma-12b-split: fits"


def test_what_stops_it_is_not_folded_away() -> None:
    text = written(GEMMA_1B)
    assert "### gemma-1b-split: stops: split-fits-one-pod" in text
    assert text.index("**mistake** `split-fits-one-pod`") < text.index("<details>")


def test_every_table_has_as_many_cells_in_each_row() -> None:
    columns = 0
    for line in written(GEMMA_12B).splitlines():
        if line.startswith("|"):
            cells = line.replace("\\|", "").count("|")
            assert columns in (0, cells), line
            columns = cells
        else:
            columns = 0


def test_details_are_opened_and_closed() -> None:
    text = written(GEMMA_12B)
    assert text.count("<details>") == text.count("</details>") == 6


def test_what_a_person_wrote_is_no_markup_and_calls_nobody() -> None:
    text = written(GEMMA_1B, owner="@everyone | <b>", purpose="a `b` [c](http://x) <img> # d")
    assert "@everyone" not in text
    assert "<img>" not in text
    assert "\\[c\\]" in text
    assert "\\# d" in text


def test_it_ends_in_one_line_end() -> None:
    text = written(GEMMA_1B)
    assert text.endswith("\n")
    assert not text.endswith("\n\n")
