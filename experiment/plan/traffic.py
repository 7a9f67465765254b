"""What goes over the network: weights from outside, and tokens between the stages of a split."""

from experiment.catalogue.models import Geometry
from experiment.plan.part import Part
from experiment.settings import Settings
from experiment.workload import Test

GB_PER_GIB = 2**30 / 10**9
GENERATED_TOKEN_BYTES = 10_000
"""Between two stages for a generated token: "roughly 10 KB" in the 1B post, which is mostly not the model's."""


class Flows(Part):
    """In gigabytes of 1e9 bytes; None where it is not known.

    Attributes:
        downloaded_gb: weights that all pods together fetch for one start.
        between_stages_gb: between neighbouring stages in the planned run, one way.
    """

    downloaded_gb: float | None
    between_stages_gb: float | None


def flows(settings: Settings, geometry: Geometry | None, checkpoint_gib: float | None) -> Flows:
    """Return what the stack moves in one start and one planned run."""
    weights, topology = settings.model.weights, settings.topology
    # Every pod fetches the whole checkpoint, also one that keeps half of the layers (12B post).
    fetching = 0 if weights.source != "hub" else topology.groups * topology.size
    tests = settings.benchmark.tests if settings.benchmark else ()
    per_run = None
    if geometry is not None:
        per_run = (topology.size - 1) * sum(_bytes(test, geometry) for test in tests) / 1e9
    return Flows(
        downloaded_gb=None if checkpoint_gib is None and fetching else (checkpoint_gib or 0) * GB_PER_GIB * fetching,
        between_stages_gb=per_run,
    )


def prompt_token_bytes(geometry: Geometry) -> int:
    """Return what one stage hands to the next for a prompt token: hidden states and residual, two bytes a number.

    For the 1B model that is 4,608 bytes; the post measured "about 4.5 KB".
    """
    return 2 * 2 * geometry.hidden_size


def _bytes(test: Test, geometry: Geometry) -> int:
    one = test.prompt_tokens * prompt_token_bytes(geometry) + test.output_tokens * GENERATED_TOKEN_BYTES
    return test.repeats * one
