"""Pods, nodes and events as the API server tells them at a moment; of each what a repeat may be disturbed by."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from benchmark.cluster.apiserver import ApiError, ApiServer
from experiment.labels import LWS_GROUP, LWS_NAME, LWS_REVISION, LWS_WORKER

INSTANCE_TYPE, ZONE = "node.kubernetes.io/instance-type", "topology.kubernetes.io/zone"
_PRESSURES = ("MemoryPressure", "DiskPressure", "PIDPressure")
NODE_EVENTS = "default"
"""The namespace of events about objects that have none."""


@dataclass(frozen=True)
class Pod:
    """A pod of the engine."""

    name: str
    uid: str
    group: int
    worker: int
    revision: str | None
    node: str
    address: str | None
    started_at: str | None
    restarts: int
    ready: bool
    ready_since: str | None
    leaving: bool
    image: str
    image_id: str
    arguments: tuple[str, ...]

    @property
    def role(self) -> Literal["leader", "worker"]:
        """The part it plays in its group."""
        return "worker" if self.worker else "leader"

    @classmethod
    def of(cls, item: Mapping[str, Any]) -> "Pod":
        """Read the API's form; what is not there yet is empty.

        Raises:
            ValueError: it is no pod of a LeaderWorkerSet.
            KeyError: it has no name or uid.
        """
        meta, spec, status = item["metadata"], item.get("spec") or {}, item.get("status") or {}
        labels = meta.get("labels") or {}
        states = status.get("containerStatuses") or []
        engine = _named(spec.get("containers") or [], "engine")
        ready = _condition(status, "Ready")
        return cls(
            name=str(meta["name"]),
            uid=str(meta["uid"]),
            group=int(labels.get(LWS_GROUP, "")),
            worker=int(labels.get(LWS_WORKER, "")),
            revision=labels.get(LWS_REVISION),
            node=str(spec.get("nodeName") or ""),
            address=status.get("podIP"),
            started_at=status.get("startTime"),
            restarts=sum(int(state.get("restartCount") or 0) for state in states),
            ready=ready.get("status") == "True",
            ready_since=ready.get("lastTransitionTime"),
            leaving=meta.get("deletionTimestamp") is not None,
            image=str(engine.get("image") or ""),
            image_id=str(_named(states, "engine").get("imageID") or ""),
            arguments=(*(engine.get("command") or ()), *(engine.get("args") or ())),
        )


@dataclass(frozen=True)
class Node:
    """A node with a pod of the engine."""

    name: str
    ready: bool
    ready_since: str | None
    pressures: tuple[str, ...]
    boot_id: str | None
    closed: bool
    instance_type: str | None
    zone: str | None

    @classmethod
    def of(cls, item: Mapping[str, Any]) -> "Node":
        """Read the API's form.

        Raises:
            KeyError: it has no name.
        """
        meta, status = item["metadata"], item.get("status") or {}
        labels, ready = meta.get("labels") or {}, _condition(status, "Ready")
        return cls(
            name=str(meta["name"]),
            ready=ready.get("status") == "True",
            ready_since=ready.get("lastTransitionTime"),
            pressures=tuple(one for one in _PRESSURES if _condition(status, one).get("status") == "True"),
            boot_id=(status.get("nodeInfo") or {}).get("bootID"),
            closed=bool((item.get("spec") or {}).get("unschedulable")),
            instance_type=labels.get(INSTANCE_TYPE),
            zone=labels.get(ZONE),
        )


@dataclass(frozen=True)
class Event:
    """Something that happened to a pod or a node; `count` grows when it happens again."""

    kind: str
    name: str
    type: str
    reason: str
    message: str
    count: int

    @classmethod
    def of(cls, item: Mapping[str, Any]) -> "Event":
        """Read the API's form."""
        about = item.get("involvedObject") or {}
        count = max(int(item.get("count") or 1), int((item.get("series") or {}).get("count") or 1))
        texts = (about.get("kind"), about.get("name"), item.get("type"), item.get("reason"), item.get("message"))
        kind, name, type_, reason, message = (" ".join(str(text or "").split()) for text in texts)
        return cls(kind, name, type_, reason, message[:200], count)


@dataclass(frozen=True)
class Look:
    """All that was seen at a moment; `unseen` says why something was not."""

    pods: Mapping[str, Pod]
    nodes: Mapping[str, Node] = field(default_factory=dict)
    events: Mapping[str, Event] = field(default_factory=dict)
    unseen: tuple[str, ...] = ()

    @property
    def leaders(self) -> list[Pod]:
        """The first pods of all groups."""
        return sorted((pod for pod in self.pods.values() if not pod.worker), key=lambda pod: pod.group)


async def pods_of(api: ApiServer, set_name: str) -> dict[str, Pod]:
    """Return the pods of a set by name.

    Raises:
        ApiError: they cannot be had.
    """
    items = await api.items(f"/api/v1/namespaces/{api.namespace}/pods", labelSelector=f"{LWS_NAME}={set_name}")
    found = {}
    for item in items:
        try:
            pod = Pod.of(item)
        except (KeyError, ValueError, TypeError, AttributeError):
            raise ApiError("The API server names a pod that is not as a LeaderWorkerSet makes it.") from None
        found[pod.name] = pod
    return found


async def look(api: ApiServer, set_name: str) -> Look:
    """Look at everything; without nodes and events where these cannot be had.

    Raises:
        ApiError: the pods themselves cannot be had.
    """
    pods = await pods_of(api, set_name)
    names = sorted({pod.node for pod in pods.values() if pod.node})
    unseen: list[str] = []
    nodes, events = await asyncio.gather(_nodes(api, names, unseen), _events(api, pods, names, unseen))
    return Look(pods, nodes, events, tuple(sorted(unseen)))


async def _nodes(api: ApiServer, names: list[str], unseen: list[str]) -> dict[str, Node]:
    found: dict[str, Node] = {}
    for name in names:
        try:
            item = await api.get(f"/api/v1/nodes/{name}")
        except ApiError as error:
            unseen.append(f"nodes: {error.message}")
            return found
        if item is not None:
            found[name] = Node.of(item)
    return found


async def _events(api: ApiServer, pods: Mapping[str, Pod], nodes: list[str], unseen: list[str]) -> dict[str, Event]:
    found: dict[str, Event] = {}
    for namespace, kind in ((api.namespace, "Pod"), (NODE_EVENTS, "Node")):
        path = f"/api/v1/namespaces/{namespace}/events"
        try:
            items = await api.items(path, fieldSelector=f"involvedObject.kind={kind}")
        except ApiError as error:
            unseen.append(f"events of {kind.lower()}s: {error.message}")
            continue
        for item in items:
            event = Event.of(item)
            if event.name in (pods if kind == "Pod" else nodes):
                found[str((item.get("metadata") or {}).get("uid"))] = event
    return found


def _named(entries: list[Any], name: str) -> Mapping[str, Any]:
    return next((entry for entry in entries if entry.get("name") == name), {})


def _condition(status: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    return next((entry for entry in status.get("conditions") or [] if entry.get("type") == name), {})
