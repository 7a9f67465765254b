"""A repeat as llm-d's benchmark report."""

import hashlib
import json
from collections.abc import Sequence
from typing import Any

from experiment.catalogue.instances import instance_types
from experiment.measure.counters import HITS, QUERIES, RUNNING, WAITING
from experiment.measure.pods import GONE, Pod, PodUse
from experiment.record import FORMULAS, RepeatRecord
from report.export.llmd import (
    Accelerator,
    Aggregate,
    Component,
    ComponentHealth,
    ComponentObservability,
    Generic,
    InferenceEngine,
    Latency,
    LlmdReport,
    Load,
    LoadMetadata,
    LoadStandardized,
    Metadata,
    Model,
    MultiTurn,
    Native,
    Observability,
    Parallelism,
    ReplicaHealth,
    RequestPerformance,
    Requests,
    Resources,
    Results,
    Run,
    RunTime,
    Scenario,
    SequenceLength,
    Statistics,
    Throughput,
)

LABEL = "engine"
KV_USAGE = "vllm:kv_cache_usage_perc"
"""A fraction, whatever its name says."""
MIB = 1024**2


def report_of(record: RepeatRecord, stage: int, version: str) -> LlmdReport:
    """Return the report of a repeat; `stage` numbers the cells of its run, `version` is Splitbed's."""
    return LlmdReport(
        run=_run(record),
        scenario=Scenario(stack=(_engine(record),), load=_load(record, stage, version)),
        results=Results(
            request_performance=_performance(record),
            observability=Observability(components=tuple(_observed(record)), splitbed=_ours(record)),
            component_health=_health(record),
        ),
    )


def file_name(record: RepeatRecord) -> str:
    """Return the name by which llm-d's tools find a report."""
    run = f"{record.run}_{record.plan_hash}"
    return f"benchmark_report_v0.2,_{run}_{record.cell}-{record.repeat}.yaml"


def _run(record: RepeatRecord) -> Run:
    name = f"{record.run}/{record.plan_hash}/{record.cell}-{record.repeat}"
    limited = record.verdict is not None and record.verdict.client_limited
    marks = {
        "simulated": record.engine.simulated,
        "disturbed": bool(record.disturbed),
        "client-limited": limited,
        record.result: record.result != "finished",
    }
    length = record.figures.load.span_s if record.figures.load is not None else 0.0
    remark = "; all figures are simulated by Splitbed's stand-in engine" if record.engine.simulated else ""
    return Run(
        uid=_hash([name, record.started_at.isoformat()]),
        eid=f"{record.run}/{record.plan_hash}",
        pid=record.client.pod,
        time=RunTime(start=record.started_at, duration=f"PT{length:f}S" if length else None),
        description=f"{record.test} ({record.test_kind}), repeat {record.repeat}{remark}",
        keywords=(record.test_kind, *(mark for mark, there in marks.items() if there)),
    )


def _engine(record: RepeatRecord) -> Component:
    topology, engine = record.topology or {}, record.engine
    tool = "splitbed stand-in for vLLM, simulated" if engine.simulated else "vllm"
    version = engine.version or "unknown"
    proven = record.proof.arguments if record.proof is not None else {}
    accelerator = _accelerator(record)
    model = Model(name=engine.model)
    found: InferenceEngine | Generic
    if accelerator is None:
        found = Generic(tool=tool, tool_version=version, model=model, topology=record.topology)
    else:
        copies = _number(topology, "count")
        found = InferenceEngine(tool=tool, tool_version=version, replicas=copies, model=model, accelerator=accelerator)
    return Component(
        metadata=Metadata(label=LABEL, cfg_id=_hash([record.topology, version, engine.model, sorted(proven.items())])),
        standardized=found,
        native=Native(args={pod: " ".join(line) for pod, line in proven.items()} or None, config=record.topology),
    )


def _accelerator(record: RepeatRecord) -> Accelerator | None:
    names = {pod.instance_type for pod in record.pods.pods}
    if record.topology is None or len(names) != 1:
        return None
    instance = instance_types().get(next(iter(names)) or "")
    if instance is None:
        return None
    tensor, stages = _number(record.topology, "tensor"), _number(record.topology, "pipeline")
    used = tensor * len(record.pods.pods) if instance.gpus else 0
    return Accelerator(
        model=f"NVIDIA-{instance.gpu_name}" if instance.gpus else f"CPU of {instance.name}",
        count=used,
        parallelism=Parallelism(tp=tensor, pp=stages, workers=stages),
    )


def _load(record: RepeatRecord, stage: int, version: str) -> Load | None:
    if not record.requests:
        return None
    prompts = [request.prompt for request in record.requests]
    kind, value = record.test_kind, record.value
    users = {request.user for request in record.requests}
    return Load(
        metadata=LoadMetadata(cfg_id=record.prompt.shape_hash, description=f"{record.test}: {record.cell}"),
        standardized=LoadStandardized(
            tool_version=version,
            stage=stage,
            input_seq_len=_length([prompt.prompt_tokens for prompt in prompts]),
            output_seq_len=_length([prompt.output_tokens for prompt in prompts]),
            multi_turn=MultiTurn(enabled=True) if kind == "follow-up" else None,
            rate_qps=float(str(value).rpartition(" ")[2]) if kind in ("open-loop", "profiles") else None,
            concurrency=len(users) if kind in ("one-user", "concurrency", "modes", "soak", "loss") else None,
        ),
        native=Native(config={"kind": kind, "value": value, "plan": record.plan_hash}),
    )


def _length(tokens: Sequence[int]) -> SequenceLength:
    if len(set(tokens)) == 1:
        return SequenceLength(distribution="fixed", value=tokens[0])
    return SequenceLength(distribution="other", value=sum(tokens) / len(tokens), min=min(tokens), max=max(tokens))


def _performance(record: RepeatRecord) -> RequestPerformance | None:
    load = record.figures.load
    if load is None:
        return None
    replies = record.replies
    figures = [reply.figures for reply in replies]
    read = sum(reply.tokens.prompt for reply in replies)
    span = load.span_s or None
    return RequestPerformance(
        aggregate=Aggregate(
            requests=Requests(
                total=load.requests,
                failures=load.failed,
                input_length=Statistics.of("count", (reply.tokens.prompt for reply in replies)),
                output_length=Statistics.of("count", (reply.tokens.output for reply in replies)),
            ),
            latency=Latency(
                time_to_first_token=Statistics.of("s", (one.ttft_s for one in figures)),
                normalized_time_per_output_token=Statistics.of(
                    "s/token", (reply.figures.e2e_s / reply.tokens.output for reply in replies)
                ),
                time_per_output_token=Statistics.of("s/token", (one.tpot_s for one in figures)),
                inter_token_latency=Statistics.of("s/token", (gap for one in figures for gap in one.gaps_s)),
                request_latency=Statistics.of("s", (one.e2e_s for one in figures)),
            ),
            throughput=Throughput(
                input_token_rate=Statistics.alone("tokens/s", read / span if span else None),
                output_token_rate=Statistics.alone("tokens/s", load.tokens_per_s),
                total_token_rate=Statistics.alone("tokens/s", (read + load.output_tokens) / span if span else None),
                request_rate=Statistics.alone("queries/s", load.requests_per_s),
            ),
        )
    )


def _observed(record: RepeatRecord) -> list[ComponentObservability]:
    found = []
    for server in record.counters.servers:
        looks = [look.values for look in (server.before, *server.each_second, server.after)]
        read = QUERIES in server.before.values and QUERIES in server.after.values
        queries = server.change(QUERIES) if read else 0.0
        resources = Resources(
            kv_cache_usage=Statistics.of("fraction", (look.get(KV_USAGE) for look in looks)),
            cache_hit_rate=Statistics.alone("fraction", server.change(HITS) / queries if queries > 0 else None),
            running_requests=Statistics.of("count", (look.get(RUNNING) for look in looks)),
            waiting_requests=Statistics.of("count", (look.get(WAITING) for look in looks)),
        )
        found.append(ComponentObservability(component_label=LABEL, replica_id=server.address, aggregate=resources))
    uses = {use.pod: use for use in record.figures.pods}
    for pod in record.pods.pods:
        if pod.name in uses:
            resources = _used(pod, uses[pod.name])
            found.append(ComponentObservability(component_label=LABEL, replica_id=pod.name, aggregate=resources))
    return found


def _used(pod: Pod, use: PodUse) -> Resources:
    looks = [look for look in (pod.before, pod.after) if look is not None]
    memory = (None if one.memory.used_bytes is None else one.memory.used_bytes / MIB for one in looks)
    quotas = {look.cpu.quota_cores for look in looks}
    quota = quotas.pop() if len(quotas) == 1 else None
    share = use.cpu_s / (use.seconds * quota) if use.cpu_s is not None and quota and use.seconds else None
    return Resources(cpu_utilization=Statistics.alone("fraction", share), cpu_memory_usage=Statistics.of("MiB", memory))


def _ours(record: RepeatRecord) -> dict[str, Any]:
    figures = record.figures.model_dump(mode="json", exclude_none=True, exclude={"load"})
    verdict = record.verdict
    return {
        "formulas": FORMULAS,
        "figures": figures,
        "disturbed": list(record.disturbed),
        "unwatched": list(record.unwatched),
        "client_limited": None if verdict is None else verdict.client_limited,
        "client_reasons": [] if verdict is None else list(verdict.reasons),
        "proven": [] if record.proof is None else list(record.proof.proven),
    }


def _health(record: RepeatRecord) -> tuple[ComponentHealth, ...] | None:
    """Return what is known of each pod; of a disturbed repeat's pods, that one is gone, and no more."""
    undisturbed = not record.disturbed and record.killed is None
    replicas = tuple(_replica(pod, undisturbed=undisturbed) for pod in record.pods.pods)
    if not replicas:
        return None
    failed = [one for one in replicas if one.healthy is False]
    known = all(one.healthy is not None for one in replicas)
    return (
        ComponentHealth(
            component_label=LABEL,
            total_restarts=0 if all(one.restarts == 0 for one in replicas) else None,
            failed_replicas=len(failed) if known else None,
            replica_health=replicas,
        ),
    )


def _replica(pod: Pod, *, undisturbed: bool) -> ReplicaHealth:
    if pod.unknown == GONE:
        return ReplicaHealth(replica_id=pod.name, restarts=None, healthy=False)
    well = undisturbed and pod.unknown is None
    return ReplicaHealth(replica_id=pod.name, restarts=0 if well else None, healthy=True if well else None)


def _number(topology: dict[str, Any], name: str) -> int:
    value = topology.get(name, 1)
    return value if isinstance(value, int) else 1


def _hash(content: Any) -> str:
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:32]
