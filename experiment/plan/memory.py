"""Memory of the engine's pods, or of their GPUs, as a plan tells it."""

from collections.abc import Sequence
from typing import Literal

from experiment.catalogue.models import Geometry
from experiment.kv.cache import GIB
from experiment.kv.pool import Pool
from experiment.memory.largest import largest
from experiment.memory.pod import PodMemory, pods
from experiment.memory.shortage import Verdict
from experiment.plan import flags
from experiment.plan.part import Part
from experiment.rounding import at_most
from experiment.settings import Settings

Fit = Literal["fits", "perhaps", "refused"]
EACH_POD, EACH_GPU = "each pod", "each GPU"


class Share(Part):
    """What one thing takes, in GiB: at least, and at most."""

    what: str
    low_gib: float
    high_gib: float


class StageMemory(Part):
    """The pod that holds one stage of the model, or one GPU of it.

    Attributes:
        stage: from 0, which is the leader's.
        layers: how many decoder layers it holds.
        shares: what takes memory and stays.
        low_gib: their sum, at least.
        high_gib: their sum, at most.
    """

    stage: int
    layers: int
    shares: tuple[Share, ...]
    low_gib: float
    high_gib: float


class Guarded(Part):
    """What the engine's own guard on CPUs sees before it makes the KV cache, and the largest cache that it lets pass.

    Attributes:
        best_gib: another pod read the weights last and is charged for their pages.
        worst_gib: this one is.
        asked_gib: the KV cache that it is compared with.
        sure_gib: the largest KV cache for which there is certainly room, all ranks of the pod together.
        sure_len: the longest request in tokens that it holds; 0 if none.
        perhaps_gib: the largest for which there may be.
    """

    best_gib: float
    worst_gib: float
    asked_gib: float
    sure_gib: float
    sure_len: int
    perhaps_gib: float


class Memory(Part):
    """Memory of the engine's pods against what they are given.

    Attributes:
        where: what the limit is of: `each pod` or `each GPU`.
        limit_gib: what is given.
        node_gib: the most that one pod could be given on its node; None if that is not known, and for GPUs.
        stages: one for each pod of a group.
        guard: on CPUs, of the stage for which it is tightest.
        fit: `perhaps` if it depends on what was only measured as a range.
        short: why it does not fit, or may not.
        basis: what the figures rest on.
    """

    where: str
    limit_gib: float
    node_gib: float | None
    stages: tuple[StageMemory, ...]
    guard: Guarded | None
    fit: Fit
    short: tuple[str, ...]
    basis: tuple[str, ...]

    @property
    def spare_gib(self) -> float:
        """What may be taken off the limit so that it still surely fits, to a tenth; 0 where it does not."""
        if self.fit != "fits":
            return 0.0
        spare = self.limit_gib - self.largest.high_gib
        if self.guard is not None:  # which wants room for the page cache, too
            spare = min(spare, self.guard.worst_gib - self.guard.asked_gib)
        return at_most(max(0.0, spare), 1)

    @property
    def largest(self) -> StageMemory:
        """The stage that takes most."""
        return max(self.stages, key=lambda stage: stage.high_gib)


def on_cpus(
    settings: Settings,
    geometry: Geometry,
    pool: Pool,
    *,
    pipeline: int,
    kv_bytes: int,
    limit_gib: float,
    node_gib: float | None,
) -> Memory:
    """Return the memory of one copy of the model over so many pods.

    Args:
        settings: of the stack.
        geometry: of the model.
        pool: of its KV cache over so many pods.
        pipeline: pods of the copy.
        kv_bytes: bytes of the KV cache of each rank.
        limit_gib: of each pod.
        node_gib: what a node has for one pod.

    Raises:
        SplitbedError: the model cannot be laid out like this.
    """
    engine = settings.engine
    found = pods(
        geometry,
        kv_bytes=kv_bytes,
        limit_gib=limit_gib,
        dtype=flags.weights_dtype(engine),
        pipeline=pipeline,
        tensor=settings.topology.tensor,
        shared_memory_gib=engine.resources.shared_memory_gib,
        node_left_gib=node_gib,
        # Also where an init container of the pod fetches them: on the safe side, its pages may be counted as the pod's.
        own_page_cache=settings.model.weights.source == "hub" and settings.model.weights.cache == "none",
        encoder=geometry.multimodal and not flags.inputs_off(engine),
        partition=flags.partition(engine) if pipeline == settings.topology.size else None,
    )
    return Memory(
        where=EACH_POD,
        limit_gib=limit_gib,
        node_gib=node_gib,
        stages=tuple(_stage(pod) for pod in found),
        guard=_guarded(found, pool, geometry.max_position or engine.max_model_len, settings.topology.tensor),
        fit=_worst(found),
        short=tuple(dict.fromkeys(shortage.sentence for pod in found for shortage in pod.shortages)),
        basis=(f"engine: {found[0].overhead.how}",),
    )


def _stage(pod: PodMemory) -> StageMemory:
    shares = (
        Share(what="weights", low_gib=pod.weights_gib, high_gib=pod.weights_gib),
        Share(what="engine", low_gib=pod.overhead.low_gib, high_gib=pod.overhead.high_gib),
        Share(what="KV cache", low_gib=pod.kv_gib, high_gib=pod.kv_gib),
        Share(what="/dev/shm", low_gib=0, high_gib=pod.shared_memory_gib),  # noqa: S108  the pod's own
    )
    return StageMemory(stage=pod.stage, layers=pod.layers, shares=shares, low_gib=pod.low_gib, high_gib=pod.high_gib)


def _guarded(found: Sequence[PodMemory], pool: Pool, longest: int, tensor: int) -> Guarded:
    tight = min(found, key=lambda pod: pod.guard.worst_gib)
    sure, perhaps = (at_most(min(bounds), 2) for bounds in zip(*(pod.most_kv_gib for pod in found), strict=True))
    return Guarded(
        best_gib=tight.guard.best_gib,
        worst_gib=tight.guard.worst_gib,
        asked_gib=tight.kv_gib,
        sure_gib=sure,
        sure_len=largest(sure / tensor, pool, longest).max_model_len,
        perhaps_gib=perhaps,
    )


def _worst(found: Sequence[PodMemory]) -> Fit:
    verdicts = {pod.verdict for pod in found}
    if Verdict.REFUSED in verdicts:
        return "refused"
    return "perhaps" if Verdict.PERHAPS in verdicts else "fits"


def sure(memory: Memory, settings: Settings) -> str:
    """Return the KV cache that surely passes the engine's guard, as advice; nothing if no request would find room."""
    guard = memory.guard
    if guard is None or not guard.sure_len:
        return ""
    # In bytes, whatever the stack says it in: a whole number of GiB less may be none at all.
    each = int(guard.sure_gib * GIB / settings.topology.tensor)
    longest = settings.engine.max_model_len
    shorter = "" if guard.sure_len >= longest else f", with engine.max_model_len: {guard.sure_len}"
    return (
        f"A KV cache of {guard.sure_gib:.2f} GiB surely passes: engine.kv_cache: "
        f"{{kind: bytes, bytes: {each}}}{shorter}."
    )
