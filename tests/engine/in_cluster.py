"""All that a cluster has in its store, as its API shows it."""

from collections.abc import Iterator
from typing import Any

from rehearsal.cluster.api import Api, ApiError

_MADE = (
    "/api/v1/namespaces",
    "/api/v1/services",
    "/apis/apps/v1/deployments",
    "/apis/apps/v1/daemonsets",
    "/apis/batch/v1/jobs",
    "/apis/leaderworkerset.x-k8s.io/v1/leaderworkersets",
)


def everything(api: Api) -> dict[str, list[Any]]:
    """Return every object of every kind that can be listed, by the path of its kind."""
    return {path: items for path in _paths(api) if (items := _items(api, path))}


def lasting(api: Api) -> set[str]:
    """Return what a stack makes in a cluster and nobody has asked to go, by kind and name."""
    return {
        f"{path.rpartition('/')[2]} {one['metadata']['name']}"
        for path in _MADE
        for one in api.get(path)["items"]
        if "deletionTimestamp" not in one["metadata"]
    }


def _paths(api: Api) -> Iterator[str]:
    groups = [group["preferredVersion"]["groupVersion"] for group in api.get("/apis")["groups"]]
    for place in ("/api/v1", *(f"/apis/{group}" for group in groups)):
        for one in api.get(place)["resources"]:
            if "list" in one["verbs"] and "/" not in one["name"]:
                yield f"{place}/{one['name']}"


def _items(api: Api, path: str) -> list[Any]:
    try:
        found: list[Any] = api.get(path)["items"]
    except ApiError as error:
        if error.status == 405:  # listed in name only
            return []
        raise
    return found
