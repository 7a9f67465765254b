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

    def __init__(self, kubeconfig: Path, context: str | None) -> None:
        assert kubeconfig.is_absolute()

    def check(self) -> str:
        return "v1.34.4"

    def nodes_labelled(self, labels: Mapping[str, str]) -> int:
        return self.nodes.get(labels["splitbed.dev/group"], 0)


def rehearse(settings: Mapping[str, Any], recorder: Any) -> None:
    local.on_given_cluster(
        Path("/nowhere"), ["rehearsal-split"], recorder, Path("kubeconfig"), None, {**IMAGE, **settings}, keep=False
    )


@pytest.mark.parametrize("path", ["cluster", "cluster.context", "benchmark.run", "benchmark.attempt"])
def test_what_a_rehearsal_decides_is_not_silently_overruled(path: str, recorder: Any) -> None:
    with pytest.raises(SplitbedError, match=f"--set {path}: a rehearsal decides this itself"):
        rehearse({path: "x"}, recorder)


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
