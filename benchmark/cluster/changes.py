"""What happened between two looks that disturbs a repeat."""

from collections.abc import Iterator

from benchmark.cluster.look import Event, Look, Node, Pod

_BY_LOAD = frozenset({"Unhealthy"})
"""Warnings that a busy engine causes itself; a pod that is taken for unready is seen by its condition."""
_TELLING = frozenset(
    {"Killing", "Evicted", "Preempted", "TaintManagerEviction", "NodeNotReady", "NodeNotSchedulable", "Rebooted"}
)
"""Normal events that say that something was taken away."""


def changes(before: Look, after: Look) -> tuple[str, ...]:
    """Return, in sentences, what changed, is missing, or is new."""
    return (*_pods(before, after), *_nodes(before, after), *_events(before, after))


def _pods(before: Look, after: Look) -> Iterator[str]:
    for name, was in before.pods.items():
        now = after.pods.get(name)
        if now is None:
            yield f"pod {name} is gone"
        elif now.uid != was.uid:
            yield f"pod {name} is another one: {was.uid} was deleted"
        else:
            yield from _pod(was, now)
    yield from (f"pod {name} is new" for name in after.pods.keys() - before.pods.keys())


def _pod(was: Pod, now: Pod) -> Iterator[str]:
    if now.node != was.node:
        yield f"pod {now.name} was on node {was.node} and is on {now.node}"
    if now.revision != was.revision:
        yield f"pod {now.name} is of group revision {now.revision}, it was of {was.revision}"
    if now.started_at != was.started_at:
        yield f"pod {now.name} was started at {was.started_at}, and anew at {now.started_at}"
    if now.restarts != was.restarts:
        yield f"pod {now.name}: its containers were restarted {now.restarts - was.restarts} times"
    if now.leaving:
        yield f"pod {now.name} is being deleted"
    if not now.ready:
        yield f"pod {now.name} is not ready"
    elif now.ready_since != was.ready_since:
        yield f"pod {now.name} was not ready for some time"


def _nodes(before: Look, after: Look) -> Iterator[str]:
    for name, was in before.nodes.items():
        now = after.nodes.get(name)
        if now is not None:
            yield from _node(was, now)
        elif not after.unseen:
            yield f"node {name} is gone"


def _node(was: Node, now: Node) -> Iterator[str]:
    if now.boot_id != was.boot_id:
        yield f"node {now.name} was booted anew"
    if not now.ready:
        yield f"node {now.name} is not ready"
    elif now.ready_since != was.ready_since:
        yield f"node {now.name} was not ready for some time"
    if now.closed and not was.closed:
        yield f"node {now.name} was closed to new pods"
    yield from (f"node {now.name} has {one}" for one in now.pressures if one not in was.pressures)


def _events(before: Look, after: Look) -> Iterator[str]:
    for uid, event in after.events.items():
        known = before.events.get(uid)
        if (known is None or event.count > known.count) and _disturbs(event):
            yield f"{event.kind.lower()} {event.name}: {event.reason}: {event.message}"


def _disturbs(event: Event) -> bool:
    return event.reason in _TELLING or (event.type == "Warning" and event.reason not in _BY_LOAD)
