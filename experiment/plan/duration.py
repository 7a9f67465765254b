"""How long it takes to the first answer, step by step; each step says whether it was measured, scaled or assumed."""

from collections.abc import Iterator

from experiment.catalogue.models import Geometry
from experiment.cluster import EksCluster, NewNetwork
from experiment.plan.part import Part
from experiment.settings import Settings
from experiment.waits import ADDON, CALL, CHART, CLUSTER, COREDNS, NODE_GROUP, ROLE, SUBNET, VPC, Basis, Wait, waits
from experiment.weights import Weights

CHECKPOINT_GIB = 22.28
"""The checkpoint of the 12B post, from whose start the rates below are."""
DOWNLOAD_S, LOAD_S, WARM_UP_S = 162.0, 90.0, 50.0
"""That start, on m7g.2xlarge: from the hub to the disk, from the disk into memory, and the engine's warm-up."""
REST_S = 58.0
"""What the post's "about six minutes" without an answer leave for scheduling, image and network."""

_POST = "12B post"
_SAME = 0.01
_FETCHING = "weights from"


class Step(Part):
    """One stretch of waiting."""

    name: str
    seconds: float
    basis: Basis
    source: str


class Duration(Part):
    """Time in seconds.

    Attributes:
        steps: from `up` to the first answer.
        first_request_s: their sum; None if a step is not known, or nothing is served.
        serving_s: what of that is the engine's pods', from when they are asked for; None likewise.
        restart_s: how long a group that is made anew gives no answer; None if not known.
        destroy_s: how long `pulumi destroy` takes; None where it takes no cluster away.
        benchmark_s: what the benchmark is expected to take; None if speed is not known.
        benchmark_longest_s: after which it is over in any case; None if nothing is measured.
        unknown: what could not be told.
    """

    steps: tuple[Step, ...]
    first_request_s: float | None
    serving_s: float | None
    restart_s: float | None
    destroy_s: float | None
    benchmark_s: float | None
    benchmark_longest_s: float | None
    unknown: tuple[str, ...] = ()

    @property
    def measured(self) -> bool:
        """Whether every step was measured; others were scaled from what was, or assumed."""
        return all(step.basis == "measured" for step in self.steps)

    @property
    def fetching_s(self) -> float:
        """What fetching the weights takes, where they are fetched."""
        return sum(step.seconds for step in self.steps if step.name.startswith(_FETCHING))

    @property
    def run_s(self) -> float | None:
        """From `up` to the end of the benchmark as expected, or at the longest if nothing is expected."""
        return self._until_after(self.benchmark_longest_s if self.benchmark_s is None else self.benchmark_s)

    @property
    def longest_run_s(self) -> float | None:
        """From `up` to the end of the benchmark at the longest."""
        return self._until_after(self.benchmark_longest_s)

    def _until_after(self, benchmark_s: float | None) -> float | None:
        return None if self.unknown else sum(step.seconds for step in self.steps) + (benchmark_s or 0)


def duration(settings: Settings, size_gib: float | None, benchmark_s: float | None, *, simulated: bool) -> Duration:
    """Return how long the stack takes to its first answer.

    Args:
        settings: of the stack.
        size_gib: of the checkpoint; None if it is not known.
        benchmark_s: what the benchmark's tests are expected to take; None if that is not known.
        simulated: the engine is the stand-in, which loads nothing.
    """
    serves = settings.topology.groups > 0
    plan = settings.benchmark.plan(settings.model.served_name) if settings.benchmark and serves else None
    own = settings.cluster if isinstance(settings.cluster, EksCluster) else None
    machines = tuple(_machines(own)) if own else ()
    unknown: tuple[str, ...] = ()
    engine: tuple[Step, ...] = ()
    if serves and simulated:
        unknown = ("the start of the stand-in engine",)
    elif serves and size_gib is None:
        unknown = (f"the start of {settings.model.name}, whose size is not known",)
    elif serves and size_gib is not None:
        engine = _engine(settings, size_gib)
    known = not unknown
    return Duration(
        steps=(*machines, *engine),
        first_request_s=sum(step.seconds for step in (*machines, *engine)) if serves and known else None,
        serving_s=sum(step.seconds for step in engine) if serves and known else None,
        restart_s=sum(step.seconds for step in engine if _again(step, settings)) if serves and known else None,
        destroy_s=_destroy_s(own) if own else None,
        benchmark_s=benchmark_s if plan else None,
        benchmark_longest_s=plan.longest_s - plan.ready_timeout_s if plan else None,
        unknown=unknown,
    )


def _again(step: Step, settings: Settings) -> bool:
    """Tell whether a step is taken again when a group is made anew on the same nodes."""
    return not (step.name.startswith(_FETCHING) and settings.model.weights.cache == "node")


def _fetched(weights: Weights) -> str:
    where = "the hub" if weights.source == "hub" else "S3"
    return f"{_FETCHING} {where}, {'once a node' if weights.cache == 'node' else 'at every start'}"


def _machines(cluster: EksCluster) -> Iterator[Step]:
    """Yield what the engine's pods wait for in `up`: the links that `splitbed plan --chain` finds in the program."""
    if isinstance(cluster.network, NewNetwork):
        yield _step("network", waits(VPC).create, waits(SUBNET).create)
    yield _step("cluster", waits(CLUSTER).create, waits(ROLE).create, CALL.create)
    yield _step("its network add-on", waits(ADDON).create)
    yield _step("nodes", waits(NODE_GROUP).create)
    yield _step("controller", waits(CHART).create)


def _step(name: str, most: Wait, *others: Wait) -> Step:
    """Return a step whose basis is that of what takes most of it."""
    seconds = most.seconds + sum(other.seconds for other in others)
    return Step(name=name, seconds=seconds, basis=most.basis, source=most.source)


def _destroy_s(cluster: EksCluster) -> float:
    network = (SUBNET, VPC) if isinstance(cluster.network, NewNetwork) else ()
    longest = (f"{ADDON} {COREDNS}", NODE_GROUP, ADDON, CLUSTER, ROLE, *network)
    return sum(waits(kind).delete.seconds for kind in longest) + CALL.delete.seconds


def _engine(settings: Settings, size_gib: float) -> tuple[Step, ...]:
    ratio = size_gib / CHECKPOINT_GIB
    weights = settings.model.weights
    basis: Basis = "measured" if abs(ratio - 1) < _SAME else "scaled"
    steps = [
        Step(name="pods and image", seconds=REST_S, basis="assumed", source=f"{_POST}: what its six minutes leave")
    ]
    if weights.source != "directory":
        steps.append(
            Step(
                name=_fetched(weights),
                seconds=DOWNLOAD_S * ratio,
                basis=basis if weights.source == "hub" else "assumed",
                source=f"{_POST}: {DOWNLOAD_S:g} s for {CHECKPOINT_GIB} GiB from the hub",
            )
        )
    steps += [
        Step(
            name="weights into memory",
            seconds=LOAD_S * ratio,
            basis=basis,
            source=f"{_POST}: about {LOAD_S:g} s for {CHECKPOINT_GIB} GiB",
        ),
        Step(
            name="warm-up",
            seconds=WARM_UP_S,
            basis="measured" if basis == "measured" else "assumed",
            source=f"{_POST}: about {WARM_UP_S:g} s",
        ),
    ]
    return tuple(steps)


def checkpoint_gib(geometry: Geometry | None) -> float | None:
    """Return the size of the checkpoint as it is stored and fetched, in GiB; None if it is not known."""
    if geometry is None:
        return None
    stored = geometry.weight_gib
    return geometry.weights_gib("bfloat16" if "bfloat16" in stored or not stored else next(iter(stored)))
