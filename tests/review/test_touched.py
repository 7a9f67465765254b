"""Which stacks a change touches."""

import pytest
from grimp import build_graph

from review.branch import Branch
from review.touched import NO_PROGRAM, touched
from tests.recording import ROOT, STACKS

ALL = ("a", "b")


@pytest.mark.parametrize(
    ("paths", "found"),
    [
        ([], ()),
        (["stacks/Pulumi.a.yaml"], ("a",)),
        (["stacks/Pulumi.b.yaml", "docs/x.md", "stacks/Pulumi.a.yaml"], ALL),
        (["stacks/Pulumi.gone.yaml"], ()),
        (["docs/plans/a.md", "docs/images/a.svg", "README.md", "LICENSE", "stacks/README.md"], ()),
        (["components/lws.py"], ALL),
        (["experiment/data/prices.json"], ALL),
        (["benchmark/run.py"], ALL),
        (["policies/rules/tags.py"], ALL),
        (["stacks/pins.lock.json"], ALL),
        (["requirements/run.txt"], ALL),
        (["pyproject.toml"], ALL),
        (["Pulumi.yaml"], ALL),
        (["__main__.py"], ALL),
        (["tests/test_stacks.py", "scripts/plan.py", "rehearsal/run.py", ".github/workflows/up.yml"], ()),
        (["something/new.py"], ALL),
        (["stacks/sub/Pulumi.a.yaml"], ALL),
    ],
)
def test_a_change_touches(paths: list[str], found: tuple[str, ...]) -> None:
    assert touched(paths, ALL) == found


def test_what_the_program_imports_is_program() -> None:
    """By the imports themselves, so that a package that components come to need is one."""
    graph = build_graph("components", "experiment", "benchmark", "campaign", "cloud", "forge", "policies", "report",
                        "review", "scripts", "rehearsal", "stackfiles")  # fmt: skip
    seen, ahead = set(), {module for module in graph.modules if module.partition(".")[0] in ("components", "policies")}
    while ahead:
        module = ahead.pop()
        seen.add(module)
        ahead |= graph.find_modules_directly_imported_by(module) - seen
    packages = {module.partition(".")[0] for module in seen}
    assert {"components", "experiment", "policies"} <= packages
    assert not packages & NO_PROGRAM


def test_every_name_that_is_said_to_be_no_program_is_there() -> None:
    assert {name for name in NO_PROGRAM if not (ROOT / name).exists()} == set()


def test_all_tracked_stacks_are_touched_by_a_change_of_the_program() -> None:
    assert touched(["components/testbed.py"], STACKS) == STACKS


def test_paths_of_a_branch_are_those_since_it_left_its_base(tmp_path: object) -> None:
    branch = Branch.of(ROOT, "HEAD")
    assert len(branch.base) == 40
    assert set(branch.paths()) == set(Branch.of(ROOT, branch.base).paths())
