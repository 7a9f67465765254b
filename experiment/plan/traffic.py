"""What goes over the network: weights from outside, and tokens between the stages of a split."""

from experiment.catalogue.models import Geometry
from experiment.expectation.cpu import traffic_kb
from experiment.plan.part import Part
from experiment.settings import Settings

GB_PER_GIB = 2**30 / 10**9
_KB_PER_GB = 10**6


class Flows(Part):
    """In gigabytes of 1e9 bytes; None where it is not known.

    Attributes:
        downloaded_gb: weights that all pods together fetch from the hub for one start.
        between_stages_gb: between the stages in the planned run.
    """

    downloaded_gb: float | None
    between_stages_gb: float | None


def flows(settings: Settings, geometry: Geometry | None, checkpoint_gib: float | None) -> Flows:
    """Return what the stack moves in one start and one planned run."""
    topology, weights = settings.topology, settings.model.weights
    # Every pod fetches the whole checkpoint, also one that keeps half of the layers (12B post).
    fetching = topology.groups * topology.size
    if weights.source != "hub":
        fetching = 0
    elif weights.cache == "node":
        fetching = min(fetching, settings.nodes.engine.count)
    tests = settings.benchmark.tests if settings.benchmark else ()
    moved = None
    if geometry is not None:
        moved = sum(
            work.requests
            * traffic_kb(geometry, pipeline=topology.size, prompt_tokens=work.prompt_tokens, tokens=work.output_tokens)
            for test in tests
            for work in test.work
        )
    return Flows(
        downloaded_gb=None if checkpoint_gib is None and fetching else (checkpoint_gib or 0) * GB_PER_GIB * fetching,
        between_stages_gb=None if moved is None else moved / _KB_PER_GB,
    )
