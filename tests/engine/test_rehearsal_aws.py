"""A stack on EKS whose pods really run: the program of the others, doubles of AWS, and real kubelets behind them."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from rich.console import Console

from rehearsal import cluster as clusters
from rehearsal.aws.kubelets import Kubelets
from rehearsal.aws.podidentity import SERVICES
from rehearsal.aws.world import World, world
from rehearsal.home import home
from rehearsal.images import aws_cli_image, lws_manager_image, pause_image, standin_image
from rehearsal.local import CLUSTER_TOOLS
from rehearsal.progress import ConsoleProgress
from rehearsal.toolchain import Toolchain
from tests.engine.aws_stack import AwsStack
from tests.engine.engine_stack import SKIP, UNCHANGED, Ran, good

pytestmark = [pytest.mark.engine, pytest.mark.long, pytest.mark.aws]

STACK, CLUSTER, REGION = "rehearsal-aws", "exp-rehearsal-aws", "us-east-1"
REPEATS = 8


@pytest.fixture
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[AwsStack, Kubelets]]:
    root, where, progress = tmp_path_factory.mktemp("aws"), home(), ConsoleProgress(Console(stderr=True))
    toolchain = Toolchain(where, progress)
    tools = toolchain.ensure("pulumi", "pulumi-resource-kubernetes", *CLUSTER_TOOLS)
    manager = lws_manager_image(tools["lws-manager"], where, progress)
    engine, carrier = standin_image(where, progress), aws_cli_image(f"http://{SERVICES}", where, progress)
    images = [pause_image(tools["pause"], where, progress), manager, engine, carrier]
    # A model's files as far as its init container looks; the stand-in reads nothing of them.
    weights = {"config.json": b"{}", "model.safetensors": b""}
    kubelets = Kubelets(tools, images, root / "k", progress, weights)
    with world(kubelets, REGION) as found:
        found.front.consistency.unread = found.front.consistency.unused = 2
        made = AwsStack(STACK, root / "s", {**tools, "chart": toolchain.lws_chart()}, world=found)
        made.create(
            lws__image=manager.reference,
            engine__image=engine.reference,
            benchmark__results__image=carrier.reference,
        )
        yield made, kubelets


def nodes_of(found: World, kubelets: Kubelets) -> dict[str, str]:
    """Return the group of each node by its instance, and see that the node is as its group has it."""
    groups = {}
    for node in kubelets.api(CLUSTER).get("/api/v1/nodes")["items"]:
        labels = node["metadata"]["labels"]
        assert labels["node.kubernetes.io/instance-type"] == "m7i.large"
        assert labels["splitbed.dev/group"] == labels["eks.amazonaws.com/nodegroup"]
        groups[node["spec"]["providerID"].rpartition("/")[2]] = labels["splitbed.dev/group"]
    for instance in found.estate.instances(CLUSTER):
        tags = {tag["Key"]: tag["Value"] for tag in instance["Tags"]}
        assert tags["splitbed:experiment"] == STACK
        assert tags["eks:nodegroup-name"] == groups[instance["InstanceId"]]
    return groups


def answered(ran: Ran) -> dict[str, Any]:
    """Return a command's JSON, which its words on the way come after."""
    found, _ = json.JSONDecoder().raw_decode(ran.said)
    assert isinstance(found, dict)
    return found


def test_a_stack_on_eks_is_measured_and_its_records_come_from_its_bucket(
    stack: tuple[AwsStack, Kubelets],
) -> None:
    ours, kubelets = stack
    good(ours.pulumi("up", *SKIP))
    assert sorted(nodes_of(ours.world, kubelets).values()) == ["engine", "engine", "system"]
    good(ours.pulumi("preview", *UNCHANGED))

    ended = ours.splitbed("wait", str(ours.file), "--timeout", "4", "--json")
    assert ended.status == 0, ended.said + kubelets.said(CLUSTER, "bench")
    waited = answered(ended)
    assert (waited["state"], waited["finished"]) == ("succeeded", REPEATS)

    # The sidecar has carried all of it, with the keys of its pod's role, below its run's prefix and nowhere else.
    services = ours.world.services
    (bucket,) = [one["Name"] for one in services.ask("s3", "ListBuckets")["Buckets"]]
    keys = {one["Key"] for one in services.ask("s3", "ListObjectsV2", Bucket=bucket)["Contents"]}
    assert len([key for key in keys if key.endswith(".json") and "/one-user/" in key]) >= REPEATS
    assert {key.split("/")[0] for key in keys} == {STACK}
    identity = ours.world.identity
    assert len(set(identity.roles.values())) == 1
    key = next(iter(identity.roles))
    assert identity.refusal(key, "PUT", f"/{bucket}/{STACK}/1/one-user/r.json", "") is None
    assert identity.refusal(key, "PUT", f"/{bucket}/{STACK}/2/one-user/r.json", "") is not None
    assert identity.refusal(key, "DELETE", f"/{bucket}/{STACK}/1/one-user/r.json", "") is not None

    into = ours.root / "fetched"
    fetched = answered(good(ours.splitbed("fetch", str(ours.file), "--into", str(into), "--json")))
    records = [into / path for path in fetched["records"]["new"]]
    assert len(records) >= REPEATS
    assert all("simulated" in path.read_text() for path in records)

    good(ours.pulumi("destroy", *SKIP))
    left = good(ours.splitbed("sweep", str(ours.file), "--json"))
    assert answered(left)["leftovers"] == []
    assert clusters.find(CLUSTER) is None
    assert not (home() / "clusters" / CLUSTER).exists()
