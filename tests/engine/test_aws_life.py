"""The whole life of every stack of the AWS half: the real engine and controller, and doubles of AWS and EKS."""

import json
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from rehearsal.aws.kubernetes import Paper
from rehearsal.aws.world import World, world
from tests.engine import planted_token
from tests.engine.aws_stack import AwsStack
from tests.engine.conftest import BroughtStack
from tests.engine.engine_stack import HOURS, SKIP, UNCHANGED, good, type_of
from tests.engine.in_cluster import everything, lasting
from tests.recording import STACKS, stack_settings
from tests.rehearsal.aws.played import orphans

pytestmark = [pytest.mark.engine, pytest.mark.long, pytest.mark.aws]

ON_EKS = [
    name for name in STACKS if stack_settings(name)["cluster"]["kind"] == "eks" and not name.startswith("rehearsal")
]
"""Those of the posts; `rehearsal-aws` is for pods that really run, and lives in a test of its own."""


@pytest.mark.parametrize("name", ON_EKS)
def test_a_stack_lives_and_leaves_nothing(aws_stack: BroughtStack, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv("HF_TOKEN", planted_token.TOKEN)  # as it is at hand for whoever uses the hub's own tools
    ours = aws_stack(name)
    good(ours.pulumi("up", *SKIP))
    _everything_runs(ours)
    ours.profile = "somebody-else"
    good(ours.pulumi("preview", *UNCHANGED))
    ours.profile = None
    where = (str(ours.file), "--region", ours.world.services.region)
    good(ours.splitbed("audit", *where))

    # The end date is moved: no node is recycled, and nothing is left to change.
    nodes = ours.instances()
    later = (datetime.now(UTC) + timedelta(hours=HOURS + 1)).isoformat(timespec="seconds")
    good(ours.splitbed("extend", str(ours.file), later))
    moved = good(ours.pulumi("up", *SKIP))
    assert {operation for operation, _ in moved.changed()} == {"update"}
    good(ours.splitbed("audit", *where, "--fix"))
    good(ours.pulumi("preview", *UNCHANGED))
    assert ours.instances() == nodes

    # Another run is another Job, and nothing else: what serves goes on serving.
    serving = _serving(ours)
    ours.change(benchmark__run="2")
    again = good(ours.pulumi("up", *SKIP))
    kubernetes = sorted((operation, type_of(urn)) for operation, urn in again.changed() if "kubernetes:" in urn)
    assert kubernetes == [
        (operation, kind)
        for operation in ("create", "delete")
        for kind in ("kubernetes:batch/v1:Job", "kubernetes:core/v1:ConfigMap")
    ]
    assert _serving(ours) == serving

    assert not planted_token.seen_in(json.dumps(everything(ours.api)))
    inside = lasting(ours.api)
    gone = good(ours.pulumi("destroy", *SKIP))
    assert ours.at_its_end() == inside, "what is in the cluster went with it, and nobody waited for it"
    _went_in_order(gone.deleted())
    left = good(ours.splitbed("sweep", str(ours.file), "--json"))
    assert json.loads(left.said)["leftovers"] == []
    planted_token.keeps_to_itself(ours)


def _everything_runs(ours: AwsStack) -> None:
    """As many nodes as the stack says, all engines placed on them, and a benchmark that pretends to be done."""
    settings = stack_settings(ours.name)
    nodes = settings["nodes"]
    assert len(ours.instances()) == nodes["system"]["count"] + nodes["engine"]["count"]
    pods = ours.api.get("/api/v1/pods")["items"]
    assert {pod["status"]["phase"] for pod in pods} <= {"Running", "Succeeded"}
    topology = settings["topology"]
    engines = [pod for pod in pods if "leaderworkerset.sigs.k8s.io/name" in pod["metadata"]["labels"]]
    assert len(engines) == topology.get("pipeline", 1) * topology.get("count", 1)
    (job,) = ours.api.get("/apis/batch/v1/jobs")["items"]
    assert job["status"].get("succeeded") == 1


def _serving(ours: AwsStack) -> list[tuple[str, str]]:
    """Return name and identity of each engine's pod."""
    pods = ours.api.get(f"/api/v1/namespaces/{ours.cluster}/pods")["items"]
    return sorted(
        (pod["metadata"]["name"], pod["metadata"]["uid"])
        for pod in pods
        if "leaderworkerset.sigs.k8s.io/name" in pod["metadata"]["labels"]
    )


def _went_in_order(order: list[str]) -> None:
    nodes_gone = max(at for at, what in enumerate(order) if what.startswith("aws:eks/nodeGroup:"))
    cni_gone = order.index("aws:eks/addon:Addon testbed-ground-addons-before-nodes-vpc-cni")
    cluster_gone = order.index("aws:eks/cluster:Cluster testbed-ground-cluster-eks-eksCluster")
    log_gone = order.index("aws:cloudwatch/logGroup:LogGroup testbed-ground-cluster-log-group")
    assert nodes_gone < cni_gone < cluster_gone < log_gone


@pytest.fixture
def on_paper(monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    """An account with clusters on paper, which is that of this process and of the commands that it starts."""
    monkeypatch.delenv("AWS_PROFILE", raising=False)
    with world(Paper()) as found:
        for name, value in found.environment().items():
            monkeypatch.setenv(name, value)
        yield found


def test_a_sweep_finds_exactly_what_was_planted(on_paper: World) -> None:
    """One orphan of each kind of every stack in one account; what they are does not depend on the stack."""
    planted = {name: orphans(on_paper.services, name) for name in ON_EKS}
    for name in ON_EKS:
        ran = subprocess.run(
            [Path(sys.executable).with_name("splitbed"), "sweep", name, "--json"],
            capture_output=True, text=True, check=False, timeout=300,
        )  # fmt: skip
        assert ran.returncode == 1, ran.stderr
        found = {(one["kind"], one["id"]) for one in json.loads(ran.stdout)["leftovers"]}
        assert planted[name] <= found
        # What AWS itself makes with a cluster and a node group.
        assert sorted(kind for kind, _ in found - planted[name]) == ["auto scaling group", "security group"]
