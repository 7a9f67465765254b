"""The whole life of stacks of the AWS half: the real engine and controller, and doubles of AWS and EKS."""

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from rich.console import Console

from rehearsal.aws.controlplane import PROGRAMS
from rehearsal.aws.local import Local
from rehearsal.aws.world import world
from rehearsal.home import home
from rehearsal.progress import ConsoleProgress
from rehearsal.toolchain import Toolchain
from tests.engine.aws_stack import HOURS, AwsStack, Ran

pytestmark = [pytest.mark.engine, pytest.mark.long]

SKIP = ("--yes", "--skip-preview")
UNCHANGED = ("--expect-no-changes",)
STEPS = 10
"""Between two interruptions, of those that change something."""
Brought = Callable[..., AwsStack]


@pytest.fixture(scope="module")
def tools() -> dict[str, Path]:
    toolchain = Toolchain(home(), ConsoleProgress(Console(stderr=True)))
    found = toolchain.ensure("pulumi", "pulumi-resource-kubernetes", *PROGRAMS)
    return {**found, "chart": toolchain.lws_chart()}


@pytest.fixture
def stack(tools: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Brought]:
    """Give a stack in an account and a directory of its own."""
    root = tmp_path_factory.mktemp("aws")
    with world(Local(tools, root / "k")) as found:

        def create(name: str, **changes: object) -> AwsStack:
            made = AwsStack(name, root / "s", tools, found)
            made.create(**changes)
            return made

        yield create


def good(ran: Ran) -> Ran:
    assert ran.status == 0, ran.said
    return ran


def test_a_stack_lives_and_leaves_nothing(stack: Brought) -> None:
    ours = stack("gemma-1b-split")
    region = ours.world.services.region
    where = (str(ours.file), "--region", region)
    cluster = "exp-gemma-1b-split"

    good(ours.pulumi("up", *SKIP))
    good(ours.pulumi("preview", *UNCHANGED))
    ours.profile = "somebody-else"
    good(ours.pulumi("preview", *UNCHANGED))
    ours.profile = None
    good(ours.splitbed("audit", *where))

    # The end date is moved: no node is recycled, and nothing is left to change.
    nodes = {one["InstanceId"] for one in ours.world.estate.instances(cluster)}
    assert len(nodes) == 3
    later = (datetime.now(UTC) + timedelta(hours=HOURS + 1)).isoformat(timespec="seconds")
    good(ours.splitbed("extend", str(ours.file), later))
    moved = good(ours.pulumi("up", *SKIP))
    assert {operation for operation, _ in moved.changed()} == {"update"}
    good(ours.splitbed("audit", *where, "--fix"))
    good(ours.splitbed("audit", *where))
    good(ours.pulumi("preview", *UNCHANGED))
    assert {one["InstanceId"] for one in ours.world.estate.instances(cluster)} == nodes

    # Another run is another Job, and nothing else.
    ours.change(benchmark__run="2")
    again = good(ours.pulumi("up", *SKIP))
    kubernetes = sorted(
        (operation, urn.split("::")[2].rpartition("$")[2]) for operation, urn in again.changed() if "kubernetes:" in urn
    )
    assert kubernetes == [
        (operation, kind)
        for operation in ("create", "delete")
        for kind in ("kubernetes:batch/v1:Job", "kubernetes:core/v1:ConfigMap")
    ]

    gone = good(ours.pulumi("destroy", *SKIP))
    order = [urn.split("::")[2].rpartition("$")[2] + " " + urn.split("::")[3] for _, urn in gone.done("delete")]
    nodes_gone = max(at for at, what in enumerate(order) if what.startswith("aws:eks/nodeGroup:"))
    cni_gone = order.index("aws:eks/addon:Addon testbed-ground-addons-before-nodes-vpc-cni")
    cluster_gone = order.index("aws:eks/cluster:Cluster testbed-ground-cluster-eks-eksCluster")
    log_gone = order.index("aws:cloudwatch/logGroup:LogGroup testbed-ground-cluster-log-group")
    assert nodes_gone < cni_gone < cluster_gone < log_gone
    left = ours.splitbed("sweep", str(ours.file), "--json")
    assert json.loads(left.said)["leftovers"] == []
    assert left.status == 0


TOKEN = "hf_" + "planted" * 5  # a test's, good for nothing


def test_an_up_in_pieces_keeps_a_token_to_itself_and_ends_at_its_date(
    stack: Brought, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Interrupted at every tenth step and continued, with a token at hand, until AWS ends it on the doubles' clock."""
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    ours = stack("gemma-1b-split")
    cluster = "exp-gemma-1b-split"
    ran = ours.pulumi("up", *SKIP, interrupt_at=STEPS)
    pieces = 1
    while ran.status != 0:
        assert pieces < 40, ran.said
        good(ours.pulumi("refresh", *SKIP, "--clear-pending-creates"))
        ran = ours.pulumi("up", *SKIP, interrupt_at=STEPS)
        pieces += 1
    assert pieces > 3, "it was interrupted"
    good(ours.pulumi("preview", *UNCHANGED))

    # The token that was at hand is in nothing that was written or made.
    local = ours.world.estate.kubernetes
    assert isinstance(local, Local)
    api = local.planes[cluster][0].api
    for path in ("/api/v1/pods", "/api/v1/configmaps", "/api/v1/secrets", "/apis/batch/v1/jobs"):
        assert TOKEN not in json.dumps(api.get(path))
    written = [path for path in ours.root.rglob("*") if path.is_file()]
    assert any(path.suffix == ".json" for path in written)
    assert [path for path in written if TOKEN.encode() in path.read_bytes()] == []

    # At the end date the nodes go, with nobody at the keyboard.
    assert len(ours.world.estate.instances(cluster)) == 3
    ours.world.enforcer.advance_to(datetime.now(UTC) + timedelta(hours=HOURS, minutes=1))
    assert ours.world.estate.instances(cluster) == []
    assert set(ours.world.enforcer.ran.values()) == {"done"}
    assert api.get("/api/v1/nodes")["items"] == []
