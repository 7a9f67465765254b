"""The policy pack on the real engine: each rule ends a preview and an `up`, and no stack breaks one.

Nothing is made anywhere: every package's provider is an echo.
"""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from policies.rules import RULES
from rehearsal.home import home
from rehearsal.toolchain import Toolchain
from tests.components.aws.stack import settings
from tests.engine import echo_provider
from tests.engine.plain_pulumi import Quiet, environment_of
from tests.recording import PINS, ROOT

pytestmark = pytest.mark.engine

PACK = ROOT / "policies"
START = """
import pulumi, pulumi_aws as aws, pulumi_kubernetes as kubernetes
from pulumi_kubernetes.apiextensions import CustomResource

TAGS = {"splitbed:experiment": "e", "splitbed:owner": "o", "splitbed:purpose": "p",
        "splitbed:end-date": "2100-12-31T18:00:00+01:00"}
IMAGE = "registry.example/engine:1.2.3"
ASKED = {"cpu": "6", "memory": "20Gi"}

def engine(limits):
    container = {"name": "engine", "image": IMAGE, "resources": {"requests": ASKED, "limits": limits}}
    template = {"spec": {"containers": [container]}}
    CustomResource("engine", api_version="leaderworkerset.x-k8s.io/v1", kind="LeaderWorkerSet",
                   spec={"leaderWorkerTemplate": {"workerTemplate": template}})

def pod(image):
    kubernetes.core.v1.Pod("pod", spec={"containers": [{"name": "c", "image": image}]})

def template(*kinds):
    aws.ec2.LaunchTemplate("template", tags=TAGS, tag_specifications=[
        {"resource_type": kind, "tags": TAGS} for kind in kinds])

def cluster(**endpoint):
    aws.eks.Cluster("cluster", role_arn="r", tags=TAGS, vpc_config={"subnet_ids": [], **endpoint})
"""
GOOD = """
queue = aws.sqs.Queue("queue", tags=TAGS)
template("instance", "volume")
cluster(endpoint_public_access=True, public_access_cidrs=["203.0.113.0/24"])
kubernetes.core.v1.Service("service", spec={"type": "ClusterIP", "cluster_ip": queue.url})
pod(IMAGE)
engine(ASKED)
"""
BAD = {
    "tagged-with-an-end": 'aws.sqs.Queue("queue")',
    "tagged-with-an-end: volumes": 'template("instance")',
    "closed-to-the-world": 'cluster(endpoint_public_access=True, public_access_cidrs=["0.0.0.0/0"])',
    "no-load-balancer": 'kubernetes.core.v1.Service("service", spec={"type": "LoadBalancer"})',
    "pinned": 'pod("registry.example/engine:latest")',
    "engines-get-what-they-ask-for": 'engine({**ASKED, "cpu": "8"})',
    "nothing-protected": 'aws.sqs.Queue("queue", tags=TAGS, opts=pulumi.ResourceOptions(protect=True))',
}
Pulumi = Callable[..., tuple[int, str]]


@pytest.fixture(scope="module")
def executable() -> Path:
    return Toolchain(home(), Quiet()).ensure("pulumi")["pulumi"]


@pytest.fixture
def pulumi(executable: Path, tmp_path: Path) -> Pulumi:
    """Run a Pulumi command on a project that is written beforehand; return its status and all it printed."""
    project, programs = tmp_path / "project", tmp_path / "programs"
    for directory in (project / "stacks", programs, tmp_path / "backend"):
        directory.mkdir(parents=True)
    plugins = [echo_provider.launcher(programs, package) for package in ("aws", "eks", "kubernetes")]
    environment = {**environment_of(tmp_path, *plugins, executable), "PYTHONWARNINGS": "ignore"}

    def run(*arguments: str) -> tuple[int, str]:
        ran = subprocess.run(
            [executable, *arguments, "--non-interactive", "--color", "never"],
            cwd=project, env=environment, capture_output=True, text=True, check=False, timeout=300,
        )  # fmt: skip
        return ran.returncode, ran.stdout + ran.stderr

    return run


@pytest.fixture
def small(pulumi: Pulumi, tmp_path: Path) -> Pulumi:
    """Run a Pulumi command with the pack on a few lines of a program."""
    project = tmp_path / "project"
    (project / "Pulumi.yaml").write_text("name: tried\nruntime: python\n")

    def run(program: str, *arguments: str) -> tuple[int, str]:
        (project / "__main__.py").write_text(START + program)
        return pulumi(*arguments, "--policy-pack", str(PACK))

    assert pulumi("stack", "init", "tried")[0] == 0
    return run


def test_what_breaks_no_rule_is_previewed_and_made(small: Pulumi) -> None:
    for command in (("preview",), ("up", "--yes", "--skip-preview")):
        status, said = small(GOOD, *command)
        assert status == 0, said
        assert "splitbed@v0.1.0" in said
        assert "can't run policy" not in said, "what is not known yet is no reason to look at nothing"


def test_every_rule_is_broken_here() -> None:
    assert {name.partition(":")[0] for name in BAD} == {rule.name for rule in RULES}


@pytest.mark.parametrize("name", BAD)
def test_what_breaks_a_rule_ends_a_preview(small: Pulumi, name: str) -> None:
    status, said = small(BAD[name], "preview")
    assert status != 0, said
    assert f"[mandatory]  {name.partition(':')[0]}  (" in said
    assert said.count("[mandatory]") == 1
    assert "Traceback" not in said


def test_what_breaks_a_rule_is_not_made(small: Pulumi, pulumi: Pulumi) -> None:
    status, said = small(BAD["no-load-balancer"], "up", "--yes", "--skip-preview")
    assert status != 0
    assert "[mandatory]  no-load-balancer  (" in said
    assert "Service" not in pulumi("stack", "export")[1]


OPENED = """
import experiment.cluster
experiment.cluster.PublicEndpoint.cidrs = property(lambda endpoint: ["0.0.0.0/0"])
"""


@pytest.mark.parametrize(("before", "broken"), [("", 0), (OPENED, 1)], ids=["as it is", "opened behind its settings"])
def test_the_whole_program_is_previewed_under_the_pack(
    pulumi: Pulumi, tmp_path: Path, before: str, broken: int
) -> None:
    project = tmp_path / "project"
    for name in ("Pulumi.yaml", "components", "experiment", "benchmark"):
        (project / name).symlink_to(ROOT / name)
    (project / "__main__.py").write_text(before + (ROOT / "__main__.py").read_text())
    _stack_file(project, settings())
    assert pulumi("stack", "init", "tried")[0] == 0
    _stack_file(project, settings())
    status, said = pulumi("preview", "--policy-pack", str(PACK))
    assert (status != 0) == bool(broken), said
    assert said.count("[mandatory]") == said.count("[mandatory]  closed-to-the-world  (eks:index:Cluster") == broken
    assert "aws:ec2:LaunchTemplate" in said


def _stack_file(project: Path, values: dict[str, Any]) -> None:
    path = project / "stacks" / "Pulumi.tried.yaml"
    document = yaml.safe_load(path.read_text()) if path.exists() else {}
    config = {"splitbed:experiment": json.loads(json.dumps(values)), "splitbed:pins": str(PINS)}
    path.write_text(yaml.safe_dump({**document, "config": config}))
