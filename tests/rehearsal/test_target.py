"""Settings that put a stack on a cluster."""

from pathlib import Path
from typing import Any

import pytest

from rehearsal.target import Target

RESULTS = Path("/workspace/results")


def target(*, exclusive: bool, settings: dict[str, Any]) -> Target:
    return Target(
        name="t", kubeconfig=Path("/k"), context="c", settings=settings, baseline=frozenset(), exclusive=exclusive
    )


def test_a_cluster_of_our_own_writes_records_right_into_the_workspace() -> None:
    assert target(exclusive=True, settings={"engine.image": "x:1"}).overrides(RESULTS) == {
        "cluster.kubeconfig": "/k",
        "cluster.context": "c",
        "engine.image": "x:1",
        "benchmark.results": {"kind": "local", "path": "/workspace/results"},
    }


@pytest.mark.parametrize("storage_class", [None, "given"])
def test_a_given_cluster_never_hears_of_a_directory_of_ours(storage_class: str | None) -> None:
    settings = {"benchmark.results": {"kind": "claim"}, "benchmark.results.storage_class": storage_class}
    overrides = target(exclusive=False, settings=settings).overrides(RESULTS)
    assert overrides == {"cluster.kubeconfig": "/k", "cluster.context": "c", **settings}
    assert list(overrides).index("benchmark.results") < list(overrides).index("benchmark.results.storage_class")
