"""The program on the real engine, as far as it comes without a cluster."""

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from rehearsal.home import home
from rehearsal.toolchain import Toolchain
from tests.engine.plain_pulumi import Quiet, environment_of
from tests.recording import ROOT, stack_settings

pytestmark = pytest.mark.engine

EXPIRED = "2026-01-01T18:00:00+01:00"
Pulumi = Callable[..., tuple[int, str]]


@pytest.fixture(scope="module")
def executable() -> Path:
    return Toolchain(home(), Quiet()).ensure("pulumi")["pulumi"]


@pytest.fixture
def pulumi(executable: Path, tmp_path: Path) -> Pulumi:
    """Run one Pulumi command on a stack with the given settings; return its status and all it printed."""
    project = tmp_path / "project"
    project.mkdir()
    for name in ("__main__.py", "Pulumi.yaml", "components", "experiment", "benchmark"):
        (project / name).symlink_to(ROOT / name)
    (project / "stacks").mkdir()
    (tmp_path / "backend").mkdir()
    environment = environment_of(tmp_path, executable)
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
    status, said = pulumi(stack_settings("rehearsal-split") | {"end_date": EXPIRED}, *command)
    assert status != 0
    assert f'end_date: found "{EXPIRED}": the experiment ended' in said
    assert "Traceback" not in said
    assert "kubernetes" not in said


@pytest.mark.parametrize("how", [(), ("--run-program",)])
def test_past_its_end_date_destroy_goes_on(pulumi: Pulumi, how: tuple[str, ...]) -> None:
    settings = stack_settings("rehearsal-split") | {"end_date": EXPIRED}
    assert pulumi(settings, "up", "--yes", "--skip-preview")[0] != 0
    status, said = pulumi(settings, "destroy", "--yes", "--skip-preview", *how)
    assert status == 0, said
    assert "The resources in the stack have been deleted" in said


RENDERING = """
import pulumi, pulumi_kubernetes as kubernetes
from components.lws import LwsController, LwsControllerArgs
from experiment.lws import InstallLws
from experiment.nodes import Placing

provider = kubernetes.Provider("rendering", render_yaml_to_directory={directory!r})
install = InstallLws(mode="install", chart={chart!r}, image="registry.example/lws:v0")
nodes = Placing(selector={{"group": "system"}})
args = LwsControllerArgs(experiment="x", namespace="lws-system", install=install, nodes=nodes, gated=True)
LwsController("lws", args, pulumi.ResourceOptions(providers=[provider]))
"""


def test_the_real_charts_controller_is_ready_when_its_webhook_is(executable: Path, tmp_path: Path) -> None:
    """Rendered by the provider: what is changed on the chart's way must fit the chart."""
    toolchain = Toolchain(home(), Quiet())
    plugin = toolchain.ensure("pulumi-resource-kubernetes")["pulumi-resource-kubernetes"]
    rendered = tmp_path / "rendered"
    program = RENDERING.format(directory=str(rendered), chart=str(toolchain.lws_chart()))
    project = tmp_path / "project"
    project.mkdir()
    (project / "__main__.py").write_text(program)
    (project / "Pulumi.yaml").write_text("name: rendering\nruntime: python\n")
    (tmp_path / "backend").mkdir()
    environment = environment_of(tmp_path, plugin, executable)
    for command in (("stack", "init", "rendering"), ("up", "--yes", "--skip-preview")):
        ran = subprocess.run(
            [executable, *command, "--non-interactive"],
            cwd=project, env=environment, capture_output=True, text=True, check=False, timeout=300,
        )  # fmt: skip
        assert ran.returncode == 0, ran.stdout + ran.stderr

    (path,) = rendered.rglob("*deployment*lws-controller-manager.yaml")
    deployment = yaml.safe_load(path.read_text())
    (manager,) = deployment["spec"]["template"]["spec"]["containers"]
    assert deployment["spec"]["minReadySeconds"] > 0
    assert manager["readinessProbe"]["tcpSocket"]["port"] in {port["name"] for port in manager["ports"]}
    assert manager["startupProbe"]["httpGet"]["path"] == "/readyz"
    (path,) = rendered.rglob("*lws-webhook-service.yaml")
    assert yaml.safe_load(path.read_text())["metadata"]["annotations"] == {"pulumi.com/skipAwait": "true"}
