from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from experiment.errors import SplitbedError
from experiment.settings import SettingsError
from rehearsal import local

IMAGE = {"engine.image": "registry.example/standin:1"}


class Cluster:
    """Of an observer, what is asked before anything is done; its nodes by their group."""

    nodes: Mapping[str, int] = {}
    owner: str | None = None

    def __init__(self, kubeconfig: Path, context: str | None) -> None:
        assert kubeconfig.is_absolute()

    def check(self) -> str:
        return "v1.34.4"

    def nodes_labelled(self, labels: Mapping[str, str]) -> int:
        return self.nodes.get(labels["splitbed.dev/group"], 0)

    def has_default_storage_class(self) -> bool:
        return False

    def controller_owner(self) -> str | None:
        return self.owner


def rehearse(settings: Mapping[str, Any], recorder: Any) -> None:
    local.on_given_cluster(
        Path("/nowhere"), ["rehearsal-split"], recorder, Path("kubeconfig"), None, {**IMAGE, **settings}, keep=False
    )


@pytest.mark.parametrize("path", ["cluster", "cluster.context", "benchmark.run", "benchmark.attempt"])
def test_what_a_rehearsal_decides_is_not_silently_overruled(path: str, recorder: Any) -> None:
    with pytest.raises(SplitbedError, match=f"--set {path}: a rehearsal decides this itself"):
        rehearse({path: "x"}, recorder)


@pytest.mark.parametrize("path", ["benchmark.results", "benchmark.results.storage_class"])
def test_on_a_cluster_of_our_own_the_records_have_their_place(path: str, tmp_path: Path, recorder: Any) -> None:
    with pytest.raises(SplitbedError, match=f"--set {path}: .* below {tmp_path / 'rehearsals'}"):
        local.on_local_cluster(tmp_path, ["rehearsal-split"], recorder, {path: "x"}, keep=False)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("settings", "why"), [({"topology": {"kind": "none"}}, "nothing is served"), ({"benchmark": None}, "no benchmark")]
)
def test_a_stack_without_a_measurement_is_refused(settings: Mapping[str, Any], why: str, recorder: Any) -> None:
    with pytest.raises(SplitbedError, match=f"rehearsal-split measures nothing: {why}"):
        rehearse(settings, recorder)


def test_a_wrong_setting_is_refused_before_the_cluster_is_looked_at(recorder: Any) -> None:
    with pytest.raises(SettingsError, match=r"topology\.pipeline"):
        rehearse({"topology.pipeline": 3}, recorder)
    assert not recorder.text


@pytest.mark.parametrize(
    ("nodes", "says"),
    [
        ({}, r"nodes\.system: .* 1 node\(s\) labelled splitbed\.dev/group=system; the cluster has 0"),
        ({"system": 1, "engine": 1}, r"nodes\.engine: .* 2 node\(s\) labelled .*=engine; the cluster has 1"),
    ],
)
def test_a_given_cluster_whose_nodes_have_no_labels_is_refused(
    nodes: Mapping[str, int], says: str, recorder: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local, "Observer", Cluster)
    monkeypatch.setattr(Cluster, "nodes", nodes)
    with pytest.raises(SplitbedError, match=says) as error:
        rehearse({}, recorder)
    assert "kubectl label node NODE splitbed.dev/group=" in error.value.remedy


class ReachedError(Exception):
    """Nothing was refused."""


@pytest.fixture
def labelled(monkeypatch: pytest.MonkeyPatch) -> None:
    """A given cluster with enough nodes; getting past its check is told by `ReachedError`."""

    def identity(_: Cluster) -> str:
        raise ReachedError

    monkeypatch.setattr(local, "Observer", Cluster)
    monkeypatch.setattr(Cluster, "nodes", {"system": 1, "engine": 2})
    monkeypatch.setattr(Cluster, "identity", identity, raising=False)


@pytest.mark.usefixtures("labelled")
def test_a_given_cluster_that_provides_no_volume_is_refused(recorder: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SplitbedError, match="no default storage class") as error:
        rehearse({}, recorder)
    assert "--set benchmark.results.storage_class=CLASS" in error.value.remedy
    with pytest.raises(ReachedError):
        rehearse({"benchmark.results.storage_class": "fast"}, recorder)
    monkeypatch.setattr(Cluster, "has_default_storage_class", lambda _: True)
    with pytest.raises(ReachedError):
        rehearse({}, recorder)


def test_a_plan_whose_records_do_not_fit_into_a_log_is_refused(recorder: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "Observer", Cluster)
    tests = [{"kind": "one-user", "output_tokens": 2000, "repeats": 200}]
    with pytest.raises(SplitbedError, match=r"rehearsal-split: the records of benchmark\.tests"):
        rehearse({"benchmark.tests": tests}, recorder)


@pytest.mark.usefixtures("labelled")
@pytest.mark.parametrize(
    "settings",
    [
        {"benchmark.results": {"kind": "local", "path": "/x"}},
        {"benchmark.results.kind": "local", "benchmark.results.path": "/x"},
    ],
)
def test_on_a_given_cluster_no_directory_of_a_node_holds_the_records(
    settings: Mapping[str, Any], recorder: Any
) -> None:
    with pytest.raises(SplitbedError, match="cannot be read from here"):
        rehearse(settings, recorder)


@pytest.mark.usefixtures("labelled")
@pytest.mark.parametrize(("owner", "whose"), [("", "controller already"), ("other", "of experiment other already")])
def test_a_controller_of_somebody_elses_is_not_taken_over(
    owner: str, whose: str, recorder: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Cluster, "has_default_storage_class", lambda _: True)
    monkeypatch.setattr(Cluster, "owner", owner)
    with pytest.raises(SplitbedError, match=whose) as error:
        rehearse({}, recorder)
    assert "--set lws='{mode: existing}'" in error.value.remedy
    with pytest.raises(ReachedError):
        rehearse({"lws": {"mode": "existing"}}, recorder)
    monkeypatch.setattr(Cluster, "owner", "rehearsal-split")
    with pytest.raises(ReachedError):
        rehearse({}, recorder)
