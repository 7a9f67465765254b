"""How fast the stack is expected to be, to first order, beside what the posts measured of the same model."""

from collections.abc import Callable, Iterator

from experiment.catalogue.instances import instance_type
from experiment.catalogue.models import Geometry
from experiment.errors import SplitbedError
from experiment.expectation import cpu, findings, gpu
from experiment.expectation.expectation import Expectation
from experiment.nodes import InstanceGroup
from experiment.plan import flags
from experiment.plan.part import Part
from experiment.settings import Settings
from experiment.workload import Cell

USERS = 8
"""Users at once for whom throughput is foretold: the most that the 1B post tried."""
PROMPT_TOKENS = 3500
"""Length of the long prompt of that post."""

_MEASURED = {"gemma-3-1b": "gemma-3-1b", "gemma-4-12b": "gemma-4-12B", "llama-3.1-70b": "Llama 70B"}
"""How the posts' findings begin, by how the models' names do."""
_POSTS_INSTANCE, _POSTS_CORES = "m7g.2xlarge", 6


class Expected(Part):
    """A prediction, beside what was measured if anybody did.

    Attributes:
        metric: what is predicted.
        unit: of the numbers.
        predicted: the prediction.
        measured: what was measured of the same; None if nobody did.
        error: the prediction's error as a share of that.
        calibrated: the prediction was made from this very measurement, so that their agreement says nothing.
        extrapolates: it is for something unlike what its numbers were taken from.
        source: what it stands on, and who measured.
    """

    metric: str
    unit: str
    predicted: float
    measured: float | None
    error: float | None
    calibrated: bool
    extrapolates: bool
    source: str

    @classmethod
    def of(cls, one: Expectation) -> "Expected":
        """Return what a plan says of an expectation."""
        return cls(
            metric=one.metric,
            unit=one.unit,
            predicted=one.predicted,
            measured=one.measured,
            error=one.error,
            calibrated=one.calibrated,
            extrapolates=one.extrapolates,
            source=one.source,
        )


class Speed(Part):
    """Predictions: modest ones, which are there so that a result far off is noticed.

    Attributes:
        token_ms: time between two tokens of one user.
        benchmark_s: what the tests of the benchmark are expected to take; None if nothing is measured.
        stack: what is expected of this stack, the time of a token first.
        posts: what the posts found of this model, with the error of the same arithmetic.
    """

    token_ms: float
    benchmark_s: float | None
    stack: tuple[Expected, ...]
    posts: tuple[Expected, ...]

    @property
    def extrapolates(self) -> bool:
        """Whether the time of a token is foretold from what was measured of something unlike this stack."""
        return self.stack[0].extrapolates


def speed(settings: Settings, geometry: Geometry | None) -> Speed | None:
    """Return what to expect; None where nothing is known of the model or of what computes it."""
    if geometry is None or not settings.topology.groups:
        return None
    try:
        return _on_gpus(settings, geometry) if settings.device == "gpu" else _on_cpus(settings, geometry)
    except SplitbedError:
        return None


def _on_cpus(settings: Settings, geometry: Geometry) -> Speed:
    topology, dtype = settings.topology, flags.weights_dtype(settings.engine)
    like_the_posts = _like_the_posts(settings)
    one = cpu.speed(geometry, dtype=dtype, pipeline=topology.size, like_the_posts=like_the_posts)

    def seconds(cell: Cell) -> float:
        # Prompts are read one after the other, whoever sends them; replies are written side by side.
        reading = sum(work.requests * work.prompt_tokens for work in cell.work) / one.prefill_tokens_s
        tokens = sum(work.requests * work.output_tokens for work in cell.work)
        return cell.lasts_s + reading + tokens / one.users_tokens_s(max(cell.streams, 1), topology.groups)

    stack = cpu.expectations(
        geometry,
        dtype=dtype,
        pipeline=topology.size,
        copies=topology.groups,
        prompt_tokens=PROMPT_TOKENS,
        users=USERS,
        like_the_posts=like_the_posts,
    )
    return Speed(
        token_ms=one.token_ms,
        benchmark_s=_lasts(settings, seconds),
        stack=tuple(Expected.of(each) for each in stack),
        posts=tuple(_posts(settings.model.name)),
    )


def _on_gpus(settings: Settings, geometry: Geometry) -> Speed | None:
    group, tensor = settings.nodes.engine, settings.topology.tensor
    if not isinstance(group, InstanceGroup):
        return None
    instance = instance_type(group.instance)
    if instance.interconnect is None and tensor > 1:
        return None
    one = gpu.speed(
        geometry,
        gpu_name=instance.gpu_name,
        interconnect=instance.interconnect or "pcie",
        tensor=tensor,
        dtype=flags.weights_dtype(settings.engine),
    )
    token = Expected(
        metric="time between tokens, one user",
        unit="ms",
        predicted=one.token_ms,
        measured=None,
        error=None,
        calibrated=False,
        extrapolates=True,
        source="; ".join(f"{each.name}: {each.source}" for each in one.parameters),
    )
    reduces = token.model_copy(update={"metric": "of that, all-reduces", "predicted": one.reduce_ms})

    def seconds(cell: Cell) -> float:
        # Reading prompts is left out, and what users cost each other: nothing is known of either.
        tokens = sum(work.requests * work.output_tokens for work in cell.work)
        return cell.lasts_s + tokens / max(cell.streams, 1) * one.token_ms / 1000

    return Speed(
        token_ms=one.token_ms,
        benchmark_s=_lasts(settings, seconds),
        stack=(token, reduces) if one.reduce_ms else (token,),
        posts=tuple(_posts(settings.model.name)),
    )


def _lasts(settings: Settings, seconds: Callable[[Cell], float]) -> float | None:
    """Return the seconds of all tests, by those of one repeat of each cell."""
    if settings.benchmark is None:
        return None
    return sum(cell.repeats * seconds(cell) for test in settings.benchmark.tests for cell in test.cells)


def _posts(model: str) -> Iterator[Expected]:
    name = model.rpartition("/")[2].lower().removeprefix("meta-")
    begins = next((text for known, text in _MEASURED.items() if name.startswith(known)), None)
    for one in findings.posts():
        if begins is not None and one.metric.startswith(begins):
            yield Expected.of(one)


def _like_the_posts(settings: Settings) -> bool:
    group = settings.nodes.engine
    there = isinstance(group, InstanceGroup) and group.instance == _POSTS_INSTANCE
    return there and settings.engine.resources.cpu == _POSTS_CORES
