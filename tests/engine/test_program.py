"""The program on the real engine, as far as it comes without a cluster."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from rehearsal.home import home
from rehearsal.progress import Progress
from rehearsal.pulumi_cli import LANGUAGE_HOST
from rehearsal.toolchain import Toolchain
from tests.recording import ROOT, stack_settings

pytestmark = pytest.mark.engine

Pulumi = Callable[..., tuple[int, str]]


class _Quiet(Progress):
    def step(self, text: str) -> None:
        """Say nothing."""

    def note(self, text: str) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def executable() -> Path:
    return Toolchain(home(), _Quiet()).ensure("pulumi")["pulumi"]


@pytest.fixture
def pulumi(executable: Path, tmp_path: Path) -> Pulumi:
    """Run one Pulumi command on a stack with the given settings; return its status and all it printed."""
    project = tmp_path / "project"
    project.mkdir()
    for name in ("__main__.py", "Pulumi.yaml", "components", "experiment", "benchmark"):
        (project / name).symlink_to(ROOT / name)
    (project / "stacks").mkdir()
    (tmp_path / "backend").mkdir()
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("PULUMI_")},
        "PATH": os.pathsep.join([str(LANGUAGE_HOST), str(executable.parent), os.environ["PATH"]]),
        "PYTHONPATH": str(ROOT),
        "SPLITBED_PYTHON": sys.executable,
        "PULUMI_HOME": str(tmp_path / "home"),
        "PULUMI_BACKEND_URL": f"file://{tmp_path / 'backend'}",
        "PULUMI_CONFIG_PASSPHRASE": "a test's",
        "PULUMI_SKIP_UPDATE_CHECK": "true",
    }
    stack_file = project / "stacks" / "Pulumi.tried.yaml"

    def run(settings: dict[str, Any], *arguments: str) -> tuple[int, str]:
        document = yaml.safe_load(stack_file.read_text()) if stack_file.exists() else {}
        stack_file.write_text(yaml.safe_dump({**document, "config": {"splitbed:experiment": settings}}))
        ran = subprocess.run(
            [executable, *arguments, "--non-interactive"],
            cwd=project, env=environment, capture_output=True, text=True, check=False, timeout=300,
        )  # fmt: skip
        return ran.returncode, ran.stdout + ran.stderr

    assert shutil.which("sh"), "the language host's launcher is a shell script"
    assert run({}, "stack", "init", "tried")[0] == 0
    return run


@pytest.mark.parametrize("command", [("preview",), ("up", "--yes", "--skip-preview"), ("up", "--yes")])
def test_a_wrong_stack_is_refused_before_the_first_resource(pulumi: Pulumi, command: tuple[str, ...]) -> None:
    settings = stack_settings("rehearsal-split") | {"ownr": "me", "topology": {"kind": "split", "pipeline": 9}}
    status, said = pulumi(settings, *command)
    assert status != 0
    assert 'ownr: found "me": there is no such key. Did you mean owner?' in said
    assert "topology.pipeline: found 9: its 9 pods must be on 9 different nodes" in said
    assert "Traceback" not in said
    assert "kubernetes" not in said


@pytest.mark.parametrize("command", [("preview",), ("up", "--yes", "--skip-preview"), ("up", "--yes")])
def test_past_its_end_date_nothing_is_made(pulumi: Pulumi, command: tuple[str, ...]) -> None:
    status, said = pulumi(stack_settings("rehearsal-split") | {"end_date": "2026-01-01"}, *command)
    assert status != 0
    assert 'end_date: found "2026-01-01": the experiment ended' in said
    assert "Traceback" not in said
    assert "kubernetes" not in said


@pytest.mark.parametrize("how", [(), ("--run-program",)])
def test_past_its_end_date_destroy_goes_on(pulumi: Pulumi, how: tuple[str, ...]) -> None:
    settings = stack_settings("rehearsal-split") | {"end_date": "2026-01-01"}
    assert pulumi(settings, "up", "--yes", "--skip-preview")[0] != 0
    status, said = pulumi(settings, "destroy", "--yes", "--skip-preview", *how)
    assert status == 0, said
    assert "The resources in the stack have been deleted" in said
