"""On a cluster that was given, `destroy` takes away what was made, last things first, and nothing else."""

from pathlib import Path

import pytest

from rehearsal.aws.controlplane import ControlPlane
from rehearsal.cluster.api import Api
from tests.engine.engine_stack import SKIP, UNCHANGED, EngineStack, good
from tests.engine.in_cluster import everything, lasting

pytestmark = [pytest.mark.engine, pytest.mark.long]

STACK = "rehearsal-split"


def test_the_job_goes_first_and_the_log_shipper_last(
    given: ControlPlane, pretended: dict[str, Path], tmp_path_factory: pytest.TempPathFactory
) -> None:
    ours = EngineStack(STACK, tmp_path_factory.mktemp("stack") / "s", pretended)
    ours.create(cluster={"kind": "kubeconfig", "kubeconfig": str(given.kubeconfig)}, logs={"kind": "files"})
    before = _namespaces(given.api)
    good(ours.pulumi("up", *SKIP))
    good(ours.pulumi("preview", *UNCHANGED))
    assert _by_pulumi(given.api)
    assert {one.partition(" ")[0] for one in lasting(given.api)} == {
        "namespaces",
        "services",
        "deployments",
        "daemonsets",
        "jobs",
        "leaderworkersets",
    }

    order = good(ours.pulumi("destroy", *SKIP)).deleted()
    last_first = ("batch/v1:Job", "LeaderWorkerSet", "apps/v1:Deployment", "apps/v1:DaemonSet")
    steps = [next(at for at, what in enumerate(order) if f"{kind} " in what) for kind in last_first]
    assert steps == sorted(steps), order
    assert ours.resources() == []
    assert _by_pulumi(given.api) == set()
    assert _namespaces(given.api) == before, "and in them went what controllers had made of it"


def _namespaces(api: Api) -> set[str]:
    """Return those that are not the cluster's own, which come when it likes."""
    found = {one["metadata"]["name"] for one in api.get("/api/v1/namespaces")["items"]}
    return {name for name in found if not name.startswith("kube-")}


def _by_pulumi(api: Api) -> set[str]:
    """Return what Pulumi made or changed, by kind, namespace and name, as the API server has written down."""
    return {
        f"{path} {one['metadata'].get('namespace', '')}/{one['metadata']['name']}"
        for path, items in everything(api).items()
        for one in items
        if any("pulumi" in each["manager"] for each in one["metadata"].get("managedFields", []))
    }
