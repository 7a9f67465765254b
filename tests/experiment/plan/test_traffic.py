"""What goes over the network."""

import pytest

from experiment.plan.duration import checkpoint_gib
from experiment.plan.traffic import Flows, flows
from tests.experiment.plan.samples import GEMMA_1B, GEMMA_12B, settings


def moved(sample: dict[str, object], **changes: object) -> Flows:
    stack = settings(sample, **changes)
    geometry = stack.model.known_geometry
    return flows(stack, geometry, checkpoint_gib(geometry))


def test_every_pod_fetches_the_whole_checkpoint() -> None:
    """12B post: both pods downloaded 22.28 GiB, and each keeps half of the layers."""
    assert moved(GEMMA_12B).downloaded_gb == pytest.approx(2 * 22.28 * 2**30 / 1e9)
    assert moved(GEMMA_12B, model__weights={"source": "directory", "uri": "/weights"}).downloaded_gb == 0


def test_a_node_that_keeps_them_fetches_once() -> None:
    replicas = {"kind": "replicas", "count": 4}
    room = {"cpu": 3, "memory_gib": 12}
    kept = {"source": "hub", "cache": "node"}
    each = moved(GEMMA_1B, topology=replicas, engine__resources=room).downloaded_gb
    once = moved(GEMMA_1B, topology=replicas, engine__resources=room, model__weights=kept).downloaded_gb
    assert each is not None
    assert once == pytest.approx(each / 2)


def test_a_split_sends_what_the_1b_post_measured() -> None:
    """1B post: about 4.5 KB a prompt token and 10 KB a generated one; eight replies of 200 after 64."""
    assert moved(GEMMA_1B).between_stages_gb == pytest.approx(8 * (64 * 4.5 + 200 * 10) * 1e3 / 1e9)
    assert moved(GEMMA_1B, topology={"kind": "single"}).between_stages_gb == 0
