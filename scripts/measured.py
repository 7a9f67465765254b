"""The benchmark of a stack as a command was told of it."""

from dataclasses import dataclass

from pydantic import ValidationError

from experiment import names
from experiment.benchmark import Benchmark
from experiment.errors import SplitbedError
from experiment.workload import Plan
from scripts.stack import Stack


@dataclass(frozen=True)
class Measured:
    """One attempt at one run, and the Job that makes it."""

    benchmark: Benchmark
    plan: Plan
    namespace: str

    @property
    def job(self) -> str:
        """The name of its Job."""
        return names.job_name(self.plan.run, self.plan.hash, self.benchmark.attempt)


def measured(stack: Stack, run: str | None, attempt: int | None) -> Measured:
    """Return what a stack measures; another run or attempt of it if they are given.

    Raises:
        SplitbedError: it measures nothing, or what is given can be no run or attempt.
    """
    settings = stack.settings
    if settings.benchmark is None or settings.topology.kind == "none":
        raise SplitbedError(
            f"{stack.name} measures nothing: it has no benchmark, or its topology is none.", "Name another stack."
        )
    benchmark = settings.benchmark
    for option, value in (("run", run), ("attempt", attempt)):
        if value is not None:
            try:
                changed = benchmark.model_dump() | {option: value}
                benchmark = Benchmark.model_validate(changed)
            except ValidationError as error:
                why = error.errors(include_url=False)[0]["msg"]
                raise SplitbedError(
                    f"--{option} {value}: {why}.", f"See `splitbed explain benchmark.{option}`."
                ) from None
    return Measured(benchmark, benchmark.plan(settings.model.served_name), names.object_name(settings.name))
