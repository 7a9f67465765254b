"""The workflows: linted by actionlint and zizmor, pinned, and doing nothing but what can be run by hand."""

import subprocess
from pathlib import Path

import pytest

from rehearsal.home import home
from rehearsal.toolchain import Toolchain
from tests.engine.linters import ensure
from tests.engine.plain_pulumi import Quiet
from tests.recording import ROOT

pytestmark = pytest.mark.engine


@pytest.fixture(scope="module")
def actionlint() -> Path:
    return Toolchain(home(), Quiet()).ensure("actionlint")["actionlint"]


@pytest.fixture(scope="module")
def zizmor() -> Path:
    return ensure(home(), "zizmor")


def ran(*argv: str | Path, cwd: Path = ROOT) -> tuple[int, str]:
    done = subprocess.run(argv, cwd=cwd, capture_output=True, text=True, check=False, timeout=120)
    return done.returncode, done.stdout + done.stderr


def test_actionlint_finds_nothing(actionlint: Path) -> None:
    assert ran(actionlint, "-no-color") == (0, "")


def test_zizmor_finds_nothing(zizmor: Path) -> None:
    status, said = ran(zizmor, "--offline", "--no-progress", "--color", "never", ".github")
    assert status == 0, said
    assert "No findings to report" in said


BAD = """
name: bad
on: pull_request_target
jobs:
  bad:
    runs-on: ubuntu-24.04
    steps:
      - uses: actions/checkout@v5
      - run: echo ${{ github.event.pull_request.title }}
      - run: echo ${{ nothing.here }}
"""


def test_they_would_find_something(actionlint: Path, zizmor: Path, tmp_path: Path) -> None:
    workflows = tmp_path / ".github" / "workflows"
    workflows.mkdir(parents=True)
    (workflows / "bad.yml").write_text(BAD)
    status, said = ran(actionlint, "-no-color", str(workflows / "bad.yml"), cwd=tmp_path)
    assert status == 1
    assert 'undefined variable "nothing"' in said
    status, said = ran(zizmor, "--offline", "--no-progress", "--color", "never", str(tmp_path))
    assert status > 0
    for audit in ("dangerous-triggers", "unpinned-uses", "template-injection", "artipacked", "excessive-permissions"):
        assert audit in said
