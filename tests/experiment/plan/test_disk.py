"""Disks hold what is fetched onto them, or the plan stops."""

import pytest

from experiment.plan.plan import make
from tests.experiment.plan.samples import GEMMA_12B, NOW, settings


@pytest.mark.parametrize(
    ("disk_gib", "weights", "warned"),
    [
        (53, {"source": "hub", "cache": "node"}, False),
        (52, {"source": "hub", "cache": "node"}, True),
        (52, {"source": "hub"}, True),
        (20, {"source": "directory", "uri": "/models"}, False),
    ],
)
def test_a_disk_holds_the_weights_and_the_rest(disk_gib: int, weights: dict[str, str], *, warned: bool) -> None:
    """12B post: a checkpoint of 22.28 GiB."""
    plan = make(settings(GEMMA_12B, nodes__engine__disk_gib=disk_gib, model__weights=weights), NOW)
    found = [one for one in plan.advice if one.name == "disk-too-small"]
    assert bool(found) == warned
    if found:
        assert found[0].stops
        assert found[0].numbers["needed_gib"] == 53
