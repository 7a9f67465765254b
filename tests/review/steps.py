"""Steps and events as the engine tells them, written by hand."""

from typing import Any

from review.step import Operation, Step

URN = "urn:pulumi:s::splitbed::splitbed:index:Testbed${}::{}"


def event(op: str, type_: str, name: str, **more: Any) -> dict[str, Any]:
    """Return an event of a preview."""
    metadata = {"op": op, "urn": URN.format(type_, name), "type": type_, "old": None, "new": None, **more}
    return {"resourcePreEvent": {"metadata": metadata, "planning": True}}


def step(operation: Operation, type_: str, name: str = "it", **more: Any) -> Step:
    return Step(operation, type_, name, **more)
