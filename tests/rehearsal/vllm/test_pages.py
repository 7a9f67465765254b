from collections.abc import Callable, Mapping, Sequence

import pytest

from rehearsal.vllm.pages import BLOCK, PAGES, filled, modes_blocks, quota_blocks, runs_of
from report.modes import LoadRun


@pytest.mark.parametrize(("name", "blocks"), [("modes", modes_blocks), ("quota", quota_blocks)])
@pytest.mark.thorough
def test_the_tables_of_a_page_are_those_of_its_runs(
    name: str, blocks: Callable[[Sequence[LoadRun]], Mapping[str, str]]
) -> None:
    """After new runs: `python -m rehearsal.vllm.pages`."""
    page = (PAGES / f"{name}.md").read_text()
    runs = runs_of(name)
    assert runs
    assert page == filled(page, blocks(runs))
    assert {found["name"] for found in BLOCK.finditer(page)} == set(blocks(runs))
    assert f"({name}.svg)" in page
    assert (PAGES / f"{name}.svg").exists()


def test_a_block_is_replaced_and_the_rest_stays() -> None:
    page = "words\n<!-- made: a -->\nold\n<!-- end -->\nwords\n"
    assert filled(page, {"a": "new"}) == "words\n<!-- made: a -->\nnew\n<!-- end -->\nwords\n"
    with pytest.raises(KeyError):
        filled(page, {})
