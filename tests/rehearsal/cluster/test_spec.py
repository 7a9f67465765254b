"""What may be asked for."""

import pytest

from experiment.errors import SplitbedError
from rehearsal.cluster import ClusterSpec, KwokNode, NodeSpec


@pytest.mark.parametrize("name", ["", "Upper", "-a", "a-", "a/b", "..", "a" * 41, "a b", "a\n"])
def test_names_that_could_not_be_directories_and_hosts_are_refused(name: str) -> None:
    for make in (ClusterSpec, NodeSpec, lambda name: KwokNode(name, "1", "1Gi", 1)):
        with pytest.raises(SplitbedError, match="cannot be used"):
            make(name)


@pytest.mark.parametrize("nodes", [(), (NodeSpec("a"), NodeSpec("a"))])
def test_nodes_are_some_and_differ(nodes: tuple[NodeSpec, ...]) -> None:
    with pytest.raises(SplitbedError, match="each once"):
        ClusterSpec("a", nodes)


def test_three_nodes_by_default_one_of_them_for_the_system() -> None:
    groups = [node.labels["splitbed.dev/group"] for node in ClusterSpec("a" * 40).nodes]
    assert groups == ["system", "engine", "engine"]
