"""The one command, for real: engine, cluster, controller, pods, benchmark, and nothing left."""

import json
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from kubernetes import client, config

from rehearsal.images import lws_manager_image, standin_image
from rehearsal.leftovers import Listing, diff
from rehearsal.local import CLUSTER
from rehearsal.observer import Observer
from rehearsal.pulumi_cli import PulumiCli
from rehearsal.toolchain import Toolchain
from rehearsal.workspace import Workspace
from stackfiles.stackfile import StackFile
from tests.engine.command import splitbed

pytestmark = pytest.mark.engine


def test_both_topologies_are_measured_and_nothing_is_left(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPLITBED_HOME", str(own_home))  # whose clusters and locks are listed too
    before = Listing.take()

    status, output, said = splitbed(own_home, "rehearse", "--json")

    assert status == 0, said
    split, single = json.loads(output)
    for figures in (split, single):
        (test,) = figures["tests"]
        assert test["repeats"] == 8
        assert test["failed"] == 0
        assert test["simulated"] is True
        assert 0 < test["ttft_s"]["median"] < test["ttft_s"]["median"] + test["tpot_s"]["median"]
        assert test["tokens_per_s"]["median"] > 0
    nodes = placed(split["nodes"])
    assert set(nodes) == {"leader", "worker", "benchmark"}
    assert len(set(nodes.values())) == 3
    nodes = placed(single["nodes"])
    assert set(nodes) == {"leader", "benchmark"}
    assert len(set(nodes.values())) == 2
    assert said.count("nothing is left") == 2
    assert diff(before, Listing.take()) == []


def placed(pods: list[str]) -> dict[str, str]:
    """Return role to node."""
    return {pod.split()[0]: pod.rsplit(" on ", 1)[1] for pod in pods}


@pytest.fixture(scope="module")
def kept(own_home: Path) -> Iterator[Path]:
    """A home in which the single model was rehearsed and is still up."""
    status, _, said = splitbed(own_home, "rehearse", "--stack", "rehearsal-single", "--keep")
    assert status == 0, said
    assert "splitbed cluster down" in said
    yield own_home
    splitbed(own_home, "cluster", "down")


def test_one_changed_value_makes_the_single_model_a_split_one(kept: Path) -> None:
    """One resource is replaced, deleted before its successor is made: nothing waits for a full node."""
    cli = pulumi(kept, "rehearsal-single")
    StackFile.read(cli.workspace.config_file).replaced({"topology": {"kind": "split", "pipeline": 2}}).write(
        cli.workspace.config_file
    )
    before = cli.workspace.log.stat().st_size

    cli.up(Quiet())

    printed = cli.workspace.log.read_text()[before:]
    assert re.search(r"\+-1 replaced", printed), printed
    assert not re.search(r"^ +[+~-] ?\d+ (created|updated|deleted)", printed, re.MULTILINE), printed
    observer = Observer(kept / "clusters" / CLUSTER / "kubeconfig")
    nodes = {
        pod.role: pod.node for pod in observer.pods(cli.outputs()["namespace"]) if pod.role in ("leader", "worker")
    }
    assert len(set(nodes.values())) == 2
    cli.preview(Quiet(), expect_no_changes=True)


@contextmanager
def volume_of_class(kubeconfig: Path, storage_class: str, directory: Path) -> Iterator[None]:
    """A volume that somebody who runs the cluster provides: a directory that the nodes have and anybody may write."""
    directory.mkdir()
    directory.chmod(0o777)
    with config.new_client_from_config(str(kubeconfig)) as api:
        volumes = client.CoreV1Api(api)
        name = f"{storage_class}-{directory.name}"
        spec = client.V1PersistentVolumeSpec(
            storage_class_name=storage_class,
            capacity={"storage": "1Gi"},
            access_modes=["ReadWriteOnce"],
            persistent_volume_reclaim_policy="Retain",
            host_path=client.V1HostPathVolumeSource(path=str(directory), type="Directory"),
        )
        volumes.create_persistent_volume(client.V1PersistentVolume(metadata=client.V1ObjectMeta(name=name), spec=spec))
        try:
            yield
        finally:
            volumes.delete_persistent_volume(name)
            shutil.rmtree(directory)


def test_a_benchmark_is_waited_for_and_its_records_are_fetched(kept: Path, tmp_path: Path) -> None:
    """By the commands that a person has who typed `pulumi up`; the records are on a volume that only the pod reads."""
    cli = pulumi(kept, "rehearsal-single")
    file, volume = str(cli.workspace.config_file), kept / "volume-fetched"
    results = {"kind": "claim", "storage_class": "fetched"}
    StackFile.read(cli.workspace.config_file).replaced(
        {"benchmark.run": "fetched", "benchmark.results": results}
    ).write(cli.workspace.config_file)
    with volume_of_class(kept / "clusters" / CLUSTER / "kubeconfig", "fetched", volume):
        cli.up(Quiet())
        status, output, said = splitbed(kept, "wait", file, "--json")
        assert status == 0, said
        waited = json.loads(output)
        assert waited["state"] == "succeeded"
        assert waited["finished"] == waited["planned"] == 8
        assert said.splitlines() == waited["measured"]
        status, output, said = splitbed(kept, "fetch", file, "--into", str(tmp_path), "--json")
        assert status == 0, said
        assert records(tmp_path) == records(volume)
    assert len(json.loads(output)["records"]["new"]) == len(records(tmp_path)) == 8 + 1, "eight repeats and a session"


def test_a_given_cluster_is_used_and_left_as_it_was(own_home: Path) -> None:
    """The rehearsal's own cluster, given by its kubeconfig, as a kind user would give theirs.

    Its nodes' directories count as out of reach: records come through a claim and the log alone.
    """
    splitbed(own_home, "cluster", "down")
    assert splitbed(own_home, "cluster", "up")[0] == 0
    kubeconfig = own_home / "clusters" / CLUSTER / "kubeconfig"
    settings = {
        "engine.image": standin_image(own_home, Quiet()).reference,
        "lws.image": lws_manager_image(
            Toolchain(own_home, Quiet()).ensure("lws-manager")["lws-manager"], own_home, Quiet()
        ).reference,
        "lws.chart": str(Toolchain(own_home, Quiet()).lws_chart()),
    }

    with volume_of_class(kubeconfig, "given", own_home / "volume"):
        before = Observer(kubeconfig).objects()
        status, output, said = splitbed(
            own_home,
            "rehearse",
            "--stack=rehearsal-split",
            f"--kubeconfig={kubeconfig}",
            "--json",
            "--set=benchmark.results.storage_class=given",
            *(f"--set={path}={value}" for path, value in settings.items()),
        )
        on_volume = records(own_home / "volume")
        after = Observer(kubeconfig).objects()

    assert status == 0, said
    assert json.loads(output)[0]["tests"][0]["repeats"] == 8
    (workspace,) = own_home.glob("rehearsals/given-*/rehearsal-split")
    assert len(on_volume) == 8 + 1, "eight repeats and a session"
    assert records(workspace / "results") == on_volume
    assert said.count("finished one-user-") == 8
    assert after.keys() == before.keys()


def records(results: Path) -> dict[str, bytes]:
    """Return what lies below a directory of results, by its path there."""
    return {str(path.relative_to(results)): path.read_bytes() for path in results.rglob("*.json")}


class Quiet:
    """Progress that nobody reads."""

    def step(self, text: str) -> None:
        pass

    def note(self, text: str) -> None:
        pass


def pulumi(home: Path, stack: str) -> PulumiCli:
    """The CLI on the state of a stack that was rehearsed in `home`."""
    workspace = Workspace(root=home / "rehearsals" / "local" / stack, stack=stack)
    return PulumiCli.of(Toolchain(home, Quiet()).ensure("pulumi", "pulumi-resource-kubernetes"), workspace)
