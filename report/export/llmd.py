"""llm-d's benchmark report, version 0.2, as far as a repeat fills it.

The format is llm-d-benchmark's `schema_v0_2.py`; it refuses keys that it does not know, and so do these. What we do not
know of a repeat is left out. Its observability section alone takes keys of others: ours are under `splitbed`.
"""

import math
from collections.abc import Iterable
from datetime import datetime
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict

from experiment.measure.part import percentile

VERSION: Literal["0.2"] = "0.2"

Unit = Literal["count", "fraction", "s", "s/token", "tokens/s", "queries/s", "MiB"]


class LlmdPart(BaseModel):
    """The base of all parts of a report."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Statistics(LlmdPart):
    """Values in a few numbers; percentiles are values that occurred (nearest rank)."""

    units: Unit
    mean: float
    stddev: float | None = None
    min: float | None = None
    p0p1: float | None = None
    p1: float | None = None
    p5: float | None = None
    p10: float | None = None
    p25: float | None = None
    p50: float | None = None
    p75: float | None = None
    p90: float | None = None
    p95: float | None = None
    p99: float | None = None
    p99p9: float | None = None
    max: float | None = None

    @classmethod
    def of(cls, units: Unit, values: Iterable[float | None]) -> Self | None:
        """Return the statistics of the values that exist, or nothing if none does."""
        known = sorted(float(value) for value in values if value is not None)
        if not known:
            return None
        mean = math.fsum(known) / len(known)
        percents = {"p0p1": 0.1, "p1": 1, "p5": 5, "p10": 10, "p25": 25, "p50": 50, "p75": 75, "p90": 90}
        percents |= {"p95": 95, "p99": 99, "p99p9": 99.9}
        return cls(
            units=units,
            mean=mean,
            stddev=math.sqrt(math.fsum((value - mean) ** 2 for value in known) / len(known)),
            min=known[0],
            max=known[-1],
            **{name: percentile(known, percent) for name, percent in percents.items()},
        )

    @classmethod
    def alone(cls, units: Unit, value: float | None) -> Self | None:
        """Return a figure of which there is one value, or nothing if it does not exist."""
        return None if value is None else cls(units=units, mean=value)


class RunTime(LlmdPart):
    """When a repeat was measured; `duration` is as in ISO 8601."""

    start: datetime
    duration: str | None


class Run(LlmdPart):
    """Which repeat this is: `eid` is common to all of a run and plan."""

    uid: str
    eid: str
    pid: str | None
    time: RunTime
    description: str
    keywords: tuple[str, ...]


class Metadata(LlmdPart):
    """Name and hash of a component."""

    label: str
    cfg_id: str
    description: str | None = None


class Model(LlmdPart):
    """The served model."""

    name: str


class Parallelism(LlmdPart):
    """Sizes of a split; `workers` are the pods of a copy."""

    tp: int
    pp: int
    workers: int


class Accelerator(LlmdPart):
    """What computes: without GPUs `count` is 0, and `model` the machine."""

    model: str
    count: int
    parallelism: Parallelism


class InferenceEngine(LlmdPart):
    """An engine whose machines are known."""

    kind: Literal["inference_engine"] = "inference_engine"
    tool: str
    tool_version: str
    role: Literal["replica"] = "replica"
    replicas: int
    model: Model
    accelerator: Accelerator


class Generic(LlmdPart):
    """An engine whose machines are not known; an `inference_engine` has to name them."""

    kind: Literal["generic"] = "generic"
    tool: str
    tool_version: str
    model: Model
    topology: dict[str, Any] | None


class Native(LlmdPart):
    """A configuration in the words of its own tool."""

    args: dict[str, Any] | None = None
    config: Any = None


class Component(LlmdPart):
    """One component of the stack."""

    metadata: Metadata
    standardized: InferenceEngine | Generic
    native: Native


class SequenceLength(LlmdPart):
    """Lengths in tokens; `value` is the one, or the mean of several."""

    distribution: Literal["fixed", "other"]
    value: float
    min: int | None = None
    max: int | None = None


class MultiTurn(LlmdPart):
    """Whether turns repeat those before."""

    enabled: bool


class LoadMetadata(LlmdPart):
    """Hash of what was sent."""

    cfg_id: str
    description: str


class LoadStandardized(LlmdPart):
    """The load in llm-d's words."""

    tool: Literal["splitbed"] = "splitbed"
    tool_version: str
    parallelism: Literal[1] = 1
    source: Literal["random"] = "random"
    stage: int
    input_seq_len: SequenceLength
    output_seq_len: SequenceLength
    multi_turn: MultiTurn | None
    rate_qps: float | None
    concurrency: int | None


class Load(LlmdPart):
    """What was sent."""

    metadata: LoadMetadata
    standardized: LoadStandardized
    native: Native


class Scenario(LlmdPart):
    """What was measured, and by what; nothing is sent to an idle engine."""

    stack: tuple[Component, ...]
    load: Load | None


class Requests(LlmdPart):
    """How many, how many failed, and their lengths."""

    total: int
    failures: int
    input_length: Statistics | None
    output_length: Statistics | None


class Latency(LlmdPart):
    """Times by the formulas of `experiment.record.FORMULAS`.

    `inter_token_latency` is of all gaps between chunks, `time_per_output_token` of one mean a request.
    """

    time_to_first_token: Statistics | None
    normalized_time_per_output_token: Statistics | None
    time_per_output_token: Statistics | None
    inter_token_latency: Statistics | None
    request_latency: Statistics | None


class Throughput(LlmdPart):
    """Rates over the span of the requests that ended well."""

    input_token_rate: Statistics | None
    output_token_rate: Statistics | None
    total_token_rate: Statistics | None
    request_rate: Statistics | None


class Aggregate(LlmdPart):
    """All requests taken together."""

    requests: Requests
    latency: Latency
    throughput: Throughput


class RequestPerformance(LlmdPart):
    """Figures of the requests."""

    aggregate: Aggregate


class Resources(LlmdPart):
    """What a server told each second, or a pod used."""

    kv_cache_usage: Statistics | None = None
    cache_hit_rate: Statistics | None = None
    cpu_memory_usage: Statistics | None = None
    cpu_utilization: Statistics | None = None
    running_requests: Statistics | None = None
    waiting_requests: Statistics | None = None


class ComponentObservability(LlmdPart):
    """One pod, or one server's `/metrics`; `replica_id` is the pod's name or the server's address."""

    component_label: str
    replica_id: str
    aggregate: Resources


class Observability(LlmdPart):
    """What was seen of the pods; `splitbed` is what the format has no key for."""

    components: tuple[ComponentObservability, ...]
    splitbed: dict[str, Any]


class ReplicaHealth(LlmdPart):
    """One pod."""

    replica_id: str
    restarts: int | None
    healthy: bool | None


class ComponentHealth(LlmdPart):
    """The pods of the engine during the repeat; none of it where it could not be looked at."""

    component_label: str
    total_restarts: int | None
    failed_replicas: int | None
    replica_health: tuple[ReplicaHealth, ...]


class Results(LlmdPart):
    """What came of it."""

    request_performance: RequestPerformance | None
    observability: Observability
    component_health: tuple[ComponentHealth, ...] | None


class LlmdReport(LlmdPart):
    """One repeat, as llm-d's tools read it."""

    version: Literal["0.2"] = VERSION
    run: Run
    scenario: Scenario
    results: Results

    def to_dict(self) -> dict[str, Any]:
        """Return it for JSON or YAML; what is not known is left out."""
        found: dict[str, Any] = self.model_dump(mode="json", exclude_none=True)
        return found
