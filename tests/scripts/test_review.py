"""`splitbed review --plans-only`, as it is typed in a repository of its own: what needs no engine."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.engine.prepared import Prepared

pytestmark = pytest.mark.thorough

END, LATER, PAST = ((datetime.now(UTC) + timedelta(days=days)).isoformat(timespec="seconds") for days in (2, 4, -1))
IMAGE = "docker.io/vllm/vllm-openai-cpu:v0.31.0"


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Prepared:
    """A repository with end dates and a pinned image."""
    found = Prepared.of(tmp_path_factory.mktemp("repository"))
    for stack in ("gemma-1b-split", "gemma-1b-single", "gemma-12b-single", "gemma-12b-split"):
        found.change(stack, end_date=END, budget__usd=200)
    found.change("gemma-12b-split", engine__image=f"{IMAGE}@sha256:{'ab' * 32}")
    found.commit("with end dates")
    return found


def by_stack(found: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {one["stack"]: one for one in found}


def test_what_changes_is_told_of_each_stack_that_is_touched(repository: Prepared) -> None:
    repository.branch("several")
    repository.change("gemma-1b-split", topology={"kind": "single"}, accept=None)
    repository.change("gemma-1b-single", end_date=LATER)
    repository.change("gemma-12b-split", engine__image=IMAGE)
    repository.change("gemma-12b-single", nodes__engine__instance="r7g.4xlarge", budget__usd=1)
    repository.commit("several")
    ended, listed = repository.review("--plans-only")
    found = by_stack(listed)
    assert ended == 1
    assert list(found) == ["gemma-12b-single", "gemma-12b-split", "gemma-1b-single", "gemma-1b-split"]
    names = {stack: [one["name"] for one in review["headlines"]] for stack, review in found.items()}
    assert names == {
        "gemma-12b-single": [],
        "gemma-12b-split": ["unpinned"],
        "gemma-1b-single": ["end-date"],
        "gemma-1b-split": ["topology"],
    }
    assert all(review["steps"] is None for review in found.values())
    assert [stack for stack, review in found.items() if review["wrong"]] == ["gemma-12b-single"]
    assert found["gemma-12b-single"]["wrong"][0].startswith("over-budget: ")
    dollars = found["gemma-12b-single"]["dollars"]
    assert dollars["an hour"]["after"] > dollars["an hour"]["before"]
    assert dollars["budget"] == {"before": 200, "after": 1}
    assert found["gemma-1b-split"]["placement_changed"]
    assert not found["gemma-1b-single"]["placement_changed"]
    date = found["gemma-1b-single"]["headlines"][0]["text"]
    assert "no node is recycled" not in date, "nobody has looked"


def test_prices_that_change_change_the_plan_of_what_was_there_too(repository: Prepared) -> None:
    """Each side is planned by its own code and data: a dearer instance is a change of every stack that has it."""
    repository.branch("prices")
    prices = repository.root / "experiment" / "data" / "tariffs.json"
    prices.write_text(prices.read_text().replace('"usd": 0.1,', '"usd": 0.3,').replace('"usd": 0.1\n', '"usd": 0.3\n'))
    _, (found,) = repository.review("--plans-only", "--stack", "gemma-1b-split")
    dollars = found["dollars"]["an hour"]
    assert dollars["after"] - dollars["before"] == pytest.approx(0.2)


def test_a_stack_past_its_date_or_removed_or_wrong_is_said(repository: Prepared) -> None:
    repository.branch("past")
    repository.change("gemma-1b-split", end_date=PAST)
    repository.change("gemma-1b-single", ownr="me")
    (repository.root / "stacks" / "Pulumi.gemma-12b-single.yaml").unlink()
    ended, listed = repository.review("--plans-only")
    found = by_stack(listed)
    assert ended == 1
    assert "the experiment ended at" in found["gemma-1b-split"]["wrong"][0]
    assert 'ownr: found "me"' in found["gemma-1b-single"]["wrong"][0]
    assert found["gemma-12b-single"]["wrong"] == []
    assert "`pulumi destroy` must come before the merge" in found["gemma-12b-single"]["basis"]


def test_documents_touch_nothing_and_a_base_that_is_not_there_is_explained(repository: Prepared) -> None:
    repository.branch("documents")
    (repository.root / "docs" / "benchmark.md").write_text("other words")
    assert repository.review("--plans-only") == (0, [])
    done = repository.splitbed("review", "--base", "nowhere", "--plans-only")
    assert done.returncode == 2
    assert "Name a branch or commit by --base" in done.stderr
    assert "Traceback" not in done.stderr
