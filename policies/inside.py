"""Looking into inputs of whatever depth."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any


def mappings(value: Any) -> Iterator[Mapping[str, Any]]:
    """Yield every mapping in a value, the outer before the inner."""
    if isinstance(value, Mapping):
        yield value
        for inner in value.values():
            yield from mappings(inner)
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for inner in value:
            yield from mappings(inner)


def entries(value: Any) -> list[Any]:
    """Return a list as it is, and none for what is no list or not known yet."""
    return list(value) if isinstance(value, Sequence) and not isinstance(value, str) else []


def containers(value: Any) -> Iterator[Mapping[str, Any]]:
    """Yield every container of every pod in the inputs of a Kubernetes object, whatever holds the pod."""
    for pod in mappings(value):
        if "containers" in pod:
            for kind in ("initContainers", "containers", "ephemeralContainers"):
                yield from (each for each in entries(pod.get(kind)) if isinstance(each, Mapping))
