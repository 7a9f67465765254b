"""What a reviewer must not overlook, in plain words: nodes, engine, records, cluster, end date, pins."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from experiment.settings import Settings
from review.step import Step

NODE_GROUP = "aws:eks/nodeGroup:NodeGroup"
LAUNCH_TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate"
CLUSTER = "aws:eks/cluster:Cluster"
BUCKET = "aws:s3/bucket:Bucket"
VPC = "aws:ec2/vpc:Vpc"
ENGINES = "kubernetes:leaderworkerset.x-k8s.io/v1:LeaderWorkerSet"
JOB = "kubernetes:batch/v1:Job"
CLAIM = "kubernetes:core/v1:PersistentVolumeClaim"
NAMESPACE = "kubernetes:core/v1:Namespace"

ORDER = (
    "bucket-lost",
    "claim-lost",
    "cluster-replaced",
    "network-replaced",
    "namespace-replaced",
    "nodes-replaced",
    "nodes-gone",
    "nodes-recycled",
    "launch-template",
    "node-count",
    "engine-replaced",
    "engine-gone",
    "benchmark-gone",
    "benchmark-anew",
    "topology",
    "records-not-kept",
    "unpinned",
    "end-date",
    "also-replaced",
)
"""What is lost for good comes first, then what ends or starts machines, then what starts pods anew."""

_ROLLED = ("launchTemplate", "version", "releaseVersion")
_TAGS = frozenset({"tags", "tagsAll"})
_NO_NEWS = frozenset({"aws:autoscaling/tag:Tag", "aws:ec2/tag:Tag", "kubernetes:core/v1:ConfigMap"})
"""Replaced with what they belong to, which has been said of that."""


@dataclass(frozen=True)
class Headline:
    """One thing to know; the name is for programs and tests."""

    name: str
    text: str


def headlines(
    before: Settings | None, after: Settings | None, steps: Sequence[Step] | None, unpinned: Iterable[str] = ()
) -> tuple[Headline, ...]:
    """Return what is to be said first, the worst of it first.

    Args:
        before: the settings as they were; none of a stack that was not there.
        after: as they will be; none of a stack that is removed.
        steps: what the engine would do; none if it was not asked.
        unpinned: what is no longer pinned.
    """
    told = list(chain.from_iterable(_OF_STEPS.get(step.type, _nothing)(step) for step in steps or ()))
    told += _benchmark(steps or ())
    told += _rest(steps or ())
    told += (
        Headline("unpinned", f"No longer pinned: {what}. `up` refuses it until `splitbed pin`.") for what in unpinned
    )
    if before is not None and after is not None:
        told += _settings(before, after, told, asked=steps is not None)
    return tuple(sorted(told, key=lambda one: ORDER.index(one.name)))


def _settings(before: Settings, after: Settings, told: Sequence[Headline], *, asked: bool) -> Iterator[Headline]:
    if before.topology != after.topology:
        yield Headline("topology", f"The topology changes from {_topology(before)} to {_topology(after)}.")
    if before.end_date != after.end_date:
        moved = f"The end date moves from {_moment(before)} to {_moment(after)}"
        nodes = any(one.name.startswith(("nodes-", "cluster-")) for one in told)
        yield Headline("end-date", f"{moved}{'; no node is recycled for it' if asked and not nodes else ''}.")


def _topology(settings: Settings) -> str:
    said = settings.topology.model_dump(mode="json", exclude_defaults=True) | {"kind": settings.topology.kind}
    return ", ".join(f"{key} {value}" if key != "kind" else str(value) for key, value in said.items())


def _moment(settings: Settings) -> str:
    return settings.end_date.strftime("%Y-%m-%d %H:%M %Z").rstrip() if settings.end_date else "none"


def _nothing(_: Step) -> Iterator[Headline]:
    yield from ()


def _nodes(step: Step) -> Iterator[Headline]:
    name = (step.old or step.new).get("nodeGroupName", step.name)
    match step.operation:
        case "replace":
            yield Headline(
                "nodes-replaced",
                f"The {name} nodes are replaced{_why(step)}: all of them end, with everything that runs there, "
                "and only then new ones start.",
            )
        case "delete":
            yield Headline("nodes-gone", f"The {name} nodes end, and none take their place.")
        case "update":
            rolled = [key for key in step.changed if key in _ROLLED]
            if rolled:
                yield Headline(
                    "nodes-recycled",
                    f"The {name} nodes are recycled ({', '.join(rolled)}): EKS ends all of them at once, with "
                    "everything that runs there, and starts new ones.",
                )
            old, new = (one.get("scalingConfig", {}).get("desiredSize") for one in (step.old, step.new))
            if old != new:
                yield Headline("node-count", f"The {name} group goes from {old} to {new} nodes.")
        case _:
            return


def _template(step: Step) -> Iterator[Headline]:
    what = [key for key in step.changed if key not in _TAGS]
    if step.operation == "replace" or (step.operation == "update" and what):
        keys = ", ".join(step.reasons or what)
        yield Headline("launch-template", f"The launch template `{step.name}` changes ({keys}).")


def _cluster(step: Step) -> Iterator[Headline]:
    if step.operation in ("replace", "delete"):
        gone = "is replaced" if step.operation == "replace" else "is deleted"
        yield Headline(
            "cluster-replaced", f"The cluster {gone}{_why(step)}, and everything in it goes: nodes, engine, benchmark."
        )


def _bucket(step: Step) -> Iterator[Headline]:
    if step.operation in ("replace", "delete"):
        if step.retained:
            yield Headline(
                "bucket-lost",
                "The stack lets go of its result bucket: the records stay in it, and nothing here will find them "
                "or delete them.",
            )
        else:
            yield Headline("bucket-lost", "The result bucket is deleted, with every record in it.")
    elif step.operation == "update" and "forceDestroy" in step.changed and step.new.get("forceDestroy"):
        yield Headline("records-not-kept", "From now on `destroy` deletes the result bucket with every record in it.")


def _claim(step: Step) -> Iterator[Headline]:
    if step.operation in ("replace", "delete") and "results" in step.name:
        yield Headline("claim-lost", f"The claim `{step.name}` goes, and with it the records on its volume.")


def _whole(name: str, what: str) -> Callable[[Step], Iterator[Headline]]:
    def told(step: Step) -> Iterator[Headline]:
        if step.operation in ("replace", "delete"):
            gone = "replaced" if step.operation == "replace" else "deleted"
            yield Headline(name, f"The {what} is {gone}{_why(step)}, and everything in it.")

    return told


def _engines(step: Step) -> Iterator[Headline]:
    if step.operation == "replace":
        yield Headline(
            "engine-replaced",
            "The engine's pods all end before new ones start: nothing answers meanwhile, and a benchmark that runs "
            "fails.",
        )
    elif step.operation == "delete":
        yield Headline("engine-gone", "The engine's pods end, and nothing serves the model any more.")


_OF_STEPS: Mapping[str, Callable[[Step], Iterator[Headline]]] = {
    NODE_GROUP: _nodes,
    LAUNCH_TEMPLATE: _template,
    CLUSTER: _cluster,
    BUCKET: _bucket,
    CLAIM: _claim,
    VPC: _whole("network-replaced", "network"),
    NAMESPACE: _whole("namespace-replaced", "namespace"),
    ENGINES: _engines,
}


def _benchmark(steps: Sequence[Step]) -> Iterator[Headline]:
    jobs = {step.operation for step in steps if step.type == JOB}
    if jobs >= {"create", "delete"} or "replace" in jobs:
        yield Headline("benchmark-anew", "The benchmark starts anew, and the Job of the one before it is removed.")
    elif "delete" in jobs:
        yield Headline("benchmark-gone", "The benchmark's Job is removed, and no other takes its place.")


def _rest(steps: Sequence[Step]) -> Iterator[Headline]:
    others = [
        f"{step.kind} `{step.name}`"
        for step in steps
        if step.operation == "replace" and step.type not in (*_OF_STEPS, *_NO_NEWS, JOB)
    ]
    if others:
        yield Headline("also-replaced", f"Also replaced: {', '.join(others)}.")


def _why(step: Step) -> str:
    said = [_change(key, step.old.get(key), step.new.get(key)) for key in step.reasons]
    return f" ({'; '.join(said)})" if said else ""


def _change(key: str, old: Any, new: Any) -> str:
    old, new = (one[0] if isinstance(one, list) and len(one) == 1 else one for one in (old, new))
    if isinstance(old, str | int) and isinstance(new, str | int):
        return f"{key} from {old} to {new}"
    return key
