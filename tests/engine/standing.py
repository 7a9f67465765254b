"""A local cluster for the tests of one module."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from rehearsal import cluster as clusters
from rehearsal.local import CLUSTER
from tests.engine.command import splitbed


@contextmanager
def standing(home: Path) -> Iterator[clusters.Cluster]:
    """Bring the cluster up in a home, where this process finds it too, and take it down at the end."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPLITBED_HOME", str(home))
        try:
            assert splitbed(home, "cluster", "up")[0] == 0
            cluster = clusters.find(CLUSTER)
            assert cluster is not None
            yield cluster
        finally:
            splitbed(home, "cluster", "down")
