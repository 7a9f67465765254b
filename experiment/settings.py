"""The settings of one experiment: one structured value of a stack file, read once.

SettingsError
    one or more problems, each with its path, what was found, why it is wrong and the remedy.
    ExpiredError
        nothing is wrong but that the end date has passed.
"""

import json
from collections.abc import Sequence
from datetime import date

from pydantic import Field, TypeAdapter, ValidationError

from experiment import combinations, placement
from experiment.benchmark import Benchmark
from experiment.cluster import Cluster
from experiment.engine import Engine, Model
from experiment.errors import SplitbedError
from experiment.explain import problems
from experiment.identity import EXPIRED, Identity
from experiment.lws import Lws
from experiment.nodes import Nodes
from experiment.problem import Problem
from experiment.resources import EngineResources
from experiment.topology import Topology

KEY = "splitbed:experiment"


class SettingsError(SplitbedError):
    """A stack file that cannot be used."""

    def __init__(self, found: Sequence[Problem]) -> None:
        count = "one problem" if len(found) == 1 else f"{len(found)} problems"
        lines = "\n".join(f"  {problem}" for problem in found)
        super().__init__(f"{KEY} in the stack file has {count}:\n{lines}")
        self.problems = tuple(found)


class ExpiredError(SettingsError):
    """Settings of an experiment that has ended; nothing is to be made of them, though all may be taken down."""


class Settings(Identity):
    """Everything a stack file says about its experiment."""

    cluster: Cluster = Field(description="where the experiment runs")
    nodes: Nodes = Field(description="the nodes it may count on")
    lws: Lws = Field(description="the LeaderWorkerSet controller")
    model: Model = Field(description="the model that is served")
    engine: Engine = Field(description="the engine that serves it")
    topology: Topology = Field(description="how the model is laid out over pods")
    benchmark: Benchmark | None = Field(None, description="what is measured; nothing if not given")


def load(text: str | None, today: date) -> Settings:
    """Read the settings from their JSON text.

    Args:
        text: what Pulumi hands over for `splitbed:experiment`; none if the stack file has no such key.
        today: the day on which `end_date` must not have passed.

    Raises:
        ExpiredError: nothing is wrong but that the end date has passed.
        SettingsError: with all that is wrong, whatever the text.
    """
    if text is None:
        remedy = "Write it as a mapping below config; stacks/Pulumi.rehearsal-split.yaml is one to start from."
        raise SettingsError([Problem("experiment", "", "it is missing", remedy)])
    try:
        settings = Settings.model_validate_json(text, context={"today": today})
    except ValidationError as error:
        found = [*problems(Settings, error), *_placement_of_parts(text)]
        expired = len(found) == 1 and error.errors()[0]["type"] == EXPIRED
        raise (ExpiredError if expired else SettingsError)(found) from None
    benchmark = settings.benchmark.resources if settings.benchmark else None
    wrong = combinations.check(settings.engine, settings.topology)
    wrong += placement.check(
        settings.nodes,
        settings.topology,
        settings.engine.resources,
        benchmark,
        controller=settings.lws.mode == "install",
    )
    if wrong:
        raise SettingsError(wrong)
    return settings


_NODES: TypeAdapter[Nodes] = TypeAdapter(Nodes)
_TOPOLOGY: TypeAdapter[Topology] = TypeAdapter(Topology)
_ENGINE: TypeAdapter[EngineResources] = TypeAdapter(EngineResources)


def _placement_of_parts(text: str) -> list[Problem]:
    """Check the placement of what can be read of a text that is wrong elsewhere, so that all is said at once."""
    try:
        data = json.loads(text)
        nodes = _NODES.validate_json(json.dumps(data["nodes"]))
        topology = _TOPOLOGY.validate_json(json.dumps(data["topology"]))
        engine = _ENGINE.validate_json(json.dumps(data["engine"]["resources"]))
    except (ValueError, KeyError, TypeError, IndexError, RecursionError):
        return []
    return placement.check(nodes, topology, engine, None, controller=False)
