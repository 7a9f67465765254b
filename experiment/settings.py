"""The settings of one experiment: one structured value of a stack file, read once.

SettingsError
    one or more problems, each with its path, what was found, why it is wrong and the remedy.
    ExpiredError
        nothing is wrong but that the end date has passed.
"""

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from functools import cache
from typing import Annotated, Any

from pydantic import Field, TypeAdapter, ValidationError

from experiment import combinations, efa, placement
from experiment.benchmark import Benchmark
from experiment.budget import Budget
from experiment.cluster import Cluster, EksCluster
from experiment.engine import Engine, Model
from experiment.errors import SplitbedError
from experiment.explain import problems
from experiment.identity import EXPIRED, Identity
from experiment.images import image_for
from experiment.logs import Logs
from experiment.lws import InstallLws, Lws
from experiment.nodes import Device, NodeGroup, Nodes, architecture, gpus
from experiment.observe import Observe
from experiment.problem import Problem
from experiment.service import Service
from experiment.topology import Topology
from experiment.warning import WarningName

KEY = "splitbed:experiment"
_MOST_SAID = 100  # more than a person mends at once; a file that is no stack file has thousands


class SettingsError(SplitbedError):
    """A stack file that cannot be used."""

    def __init__(self, found: Sequence[Problem]) -> None:
        count = "one problem" if len(found) == 1 else f"{len(found)} problems"
        lines = [f"  {problem}" for problem in found[:_MOST_SAID]]
        if len(found) > _MOST_SAID:
            lines.append(f"  and {len(found) - _MOST_SAID} more")
        super().__init__("\n".join([f"{KEY} in the stack file has {count}:", *lines]))
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
    observe: Observe = Field(default_factory=lambda: Observe(), description="what else looks at its nodes")
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
    def efa_per_pod(self) -> int:
        """How many interfaces of the Elastic Fabric Adapter an engine pod asks for."""
        return efa.interfaces(self.nodes.engine, self.topology)

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
        found = [*problems(Settings, error), *_wrong(_readable(text))]
        expired = len(found) == 1 and error.errors()[0]["type"] == EXPIRED
        raise (ExpiredError if expired else SettingsError)(found) from None
    wrong = _wrong({name: getattr(settings, name) for name in Settings.model_fields})
    if wrong:
        raise SettingsError(wrong)
    return settings


def before_up(settings: Settings) -> list[Problem]:
    """Return what is still to be said before anything that costs money is made; a plan and a preview need it not.

    Tracked stack files hold no end date, or they would go stale (docs/decisions/0006-end-dates.md).
    """
    if not isinstance(settings.cluster, EksCluster) or settings.end_date is not None:
        return []
    why = "it is missing, and an EKS cluster costs money until it is taken down"
    return [Problem("end_date", "", why, 'Set the moment at which it ends, as in "2026-12-31T18:00:00+01:00".')]


@cache
def _adapter(name: str) -> TypeAdapter[Any]:
    field = Settings.model_fields[name]
    annotation: Any = Annotated[field.annotation, field]
    return TypeAdapter(annotation)


def _readable(text: str) -> dict[str, Any]:
    """Return what can be read of a text that is wrong elsewhere, so that all that is wrong is said at once."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    if not isinstance(data, dict):
        return {}
    parts = {}
    for name, field in Settings.model_fields.items():
        if name in data:
            with suppress(ValueError, RecursionError):
                parts[name] = _adapter(name).validate_json(json.dumps(data[name]))
        elif not field.is_required():
            parts[name] = field.get_default(call_default_factory=True)
    return parts


def _wrong(parts: Mapping[str, Any]) -> list[Problem]:
    return [*combinations.check(parts), *_placement(parts)]


def _placement(parts: Mapping[str, Any]) -> list[Problem]:
    """Place the pods on declared nodes; what instances leave to pods is the plan's to say."""
    if not {"nodes", "topology", "engine"} <= parts.keys():
        return []
    nodes: Nodes = parts["nodes"]
    if not isinstance(nodes.engine, NodeGroup) or not isinstance(nodes.system, NodeGroup):
        return []
    benchmark: Benchmark | None = parts.get("benchmark")
    return placement.check(
        nodes.system,
        nodes.engine,
        parts["topology"],
        parts["engine"].resources,
        benchmark.resources if benchmark else None,
        controller=isinstance(parts.get("lws"), InstallLws),
    )
