"""The plans in the documentation are those of the stacks as they are."""

from pathlib import Path

import pytest

from report.plan_pages import as_svg, pages
from scripts.plan import PAGES_NOW, planned
from stackfiles.stackfile import stacks

PLANS = Path(__file__).parents[2] / "docs" / "plans"
STALE = "is stale: run `make plans` and read the difference"


@pytest.fixture(scope="module")
def fresh() -> dict[str, str]:
    return dict(pages([(stack, planned(stack, [], PAGES_NOW)) for stack in stacks()], PAGES_NOW))


def test_there_is_a_page_and_a_picture_of_every_stack_and_no_other(fresh: dict[str, str]) -> None:
    assert {path.name for path in PLANS.iterdir()} == set(fresh)


@pytest.mark.parametrize("stack", stacks())
def test_the_page_of_a_stack_is_fresh(stack: str, fresh: dict[str, str]) -> None:
    for name in (f"{stack}.md", f"{stack}.svg"):
        assert (PLANS / name).read_text(encoding="utf-8") == fresh[name], f"docs/plans/{name} {STALE}"


def test_index_and_schema_are_fresh(fresh: dict[str, str]) -> None:
    for name in ("README.md", "plan.schema.json"):
        assert (PLANS / name).read_text(encoding="utf-8") == fresh[name], f"docs/plans/{name} {STALE}"


def test_every_tracked_stack_goes() -> None:
    assert [stack for stack in stacks() if not planned(stack, [], PAGES_NOW).goes] == []


def test_a_picture_is_the_same_each_time() -> None:
    plan = planned("gemma-1b-split", [], PAGES_NOW)
    assert as_svg("gemma-1b-split", plan) == as_svg("gemma-1b-split", plan)
