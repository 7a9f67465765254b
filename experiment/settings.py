"""The settings of one experiment: one structured value of a stack file, read once.

SettingsError
    one or more problems, each with its path, what was found, why it is wrong and the remedy.
    ExpiredError
        nothing is wrong but that the end date has passed.
"""

import json
from collections.abc import Sequence
from datetime import datetime

from pydantic import Field, TypeAdapter, ValidationError

from experiment import combinations, placement
from experiment.benchmark import Benchmark
from experiment.budget import Budget
from experiment.cluster import Cluster
from experiment.engine import Engine, Model
from experiment.errors import SplitbedError
from experiment.explain import problems
from experiment.identity import EXPIRED, Identity
from experiment.images import image_for
from experiment.logs import Logs
from experiment.lws import InstallLws, Lws
from experiment.nodes import Device, NodeGroup, Nodes, architecture, gpus
from experiment.problem import Problem
from experiment.resources import EngineResources, PodResources
from experiment.service import Service
from experiment.topology import Topology
from experiment.warning import WarningName

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
    service: Service = Field(default_factory=lambda: Service(), description="how clients reach it")
    logs: Logs = Field(default_factory=lambda: Logs(), description="where the logs of its pods go")
    budget: Budget | None = Field(None, description="what it may cost; no limit if not given")
    accept: tuple[WarningName, ...] = Field((), description="names of the warnings that are mistakes and are meant")
    benchmark: Benchmark | None = Field(None, description="what is measured; nothing if not given")

    @property
    def device(self) -> Device:
        """What computes: the GPUs of the engine's nodes if they have some, else their CPUs."""
        return "gpu" if gpus(self.nodes.engine) else "cpu"

    @property
    def gpus_per_pod(self) -> int:
        """How many GPUs an engine pod asks for."""
        return self.topology.tensor if self.device == "gpu" else 0

    @property
    def engine_image(self) -> str:
        """The image of the engine's pods, which is the benchmark's too.

        Raises:
            ValueError: there is none for these nodes; `load` has refused such settings.
        """
        image = image_for(self.engine.image, architecture(self.nodes.engine))
        if image is None:
            raise ValueError("no image for the architecture of the engine's nodes")
        return image


def load(text: str | None, now: datetime) -> Settings:
    """Read the settings from their JSON text.

    Args:
        text: what Pulumi hands over for `splitbed:experiment`; none if the stack file has no such key.
        now: with its time zone; `end_date` must be later.

    Raises:
        ExpiredError: nothing is wrong but that the end date has passed.
        SettingsError: with all that is wrong, whatever the text.
    """
    if text is None:
        remedy = "Write it as a mapping below config; stacks/Pulumi.rehearsal-split.yaml is one to start from."
        raise SettingsError([Problem("experiment", "", "it is missing", remedy)])
    try:
        settings = Settings.model_validate_json(text, context={"now": now})
    except ValidationError as error:
        found = [*problems(Settings, error), *_placement_of_parts(text)]
        expired = len(found) == 1 and error.errors()[0]["type"] == EXPIRED
        raise (ExpiredError if expired else SettingsError)(found) from None
    benchmark = settings.benchmark.resources if settings.benchmark else None
    wrong = combinations.check(settings.engine, settings.topology)
    wrong += _placement(settings.nodes, settings.topology, settings.engine.resources, benchmark, settings.lws)
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
    return _placement(nodes, topology, engine, None, None)


def _placement(
    nodes: Nodes, topology: Topology, engine: EngineResources, benchmark: PodResources | None, lws: Lws | None
) -> list[Problem]:
    if not isinstance(nodes.engine, NodeGroup) or not isinstance(nodes.system, NodeGroup):
        return []  # what instances leave to pods is the plan's to say
    installs = isinstance(lws, InstallLws)
    return placement.check(nodes.system, nodes.engine, topology, engine, benchmark, controller=installs)
