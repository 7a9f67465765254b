"""Clusters and what is in them."""

from collections.abc import Iterator, Sequence
from typing import Any

from cloud.account import Account
from cloud.kinds.kind import Kind
from cloud.thing import Thing


def _clusters(account: Account, region: str, _: Sequence[Thing]) -> Iterator[Thing]:
    for name in account.pages("eks", region, "list_clusters", "clusters"):
        one = account.seen("eks", region, "describe_cluster", name=name)
        if one is not None:
            yield Thing("cluster", name, region, one["cluster"].get("tags", {}), cluster=name)


def _described(
    account: Account, region: str, known: Sequence[Thing], listed: tuple[str, str], described: tuple[str, str, str]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Return the parts of the known clusters of ours, each with its cluster's name."""
    (list_operation, list_key), (operation, argument, key) = listed, described
    for cluster in (thing.id for thing in known if thing.kind == "cluster" and thing.experiment is not None):
        for one in account.pages("eks", region, list_operation, list_key, clusterName=cluster):
            name = one["associationId"] if isinstance(one, dict) else one
            said = account.seen("eks", region, operation, **{"clusterName": cluster, argument: name})
            if said is not None:
                yield cluster, said[key]


def _node_groups(account: Account, region: str, known: Sequence[Thing]) -> Iterator[Thing]:
    listed, described = ("list_nodegroups", "nodegroups"), ("describe_nodegroup", "nodegroupName", "nodegroup")
    for cluster, one in _described(account, region, known, listed, described):
        name, issues = one["nodegroupName"], one.get("health", {}).get("issues", [])
        ails = "; ".join(f"{issue.get('code', '')}: {issue.get('message', '')}" for issue in issues)
        yield Thing("node group", f"{cluster}/{name}", region, one.get("tags", {}), name, cluster, cluster, ails=ails)


def _addons(account: Account, region: str, known: Sequence[Thing]) -> Iterator[Thing]:
    listed, described = ("list_addons", "addons"), ("describe_addon", "addonName", "addon")
    for cluster, one in _described(account, region, known, listed, described):
        name = one["addonName"]
        yield Thing("add-on", f"{cluster}/{name}", region, one.get("tags", {}), name, cluster, cluster)


def _associations(account: Account, region: str, known: Sequence[Thing]) -> Iterator[Thing]:
    listed = ("list_pod_identity_associations", "associations")
    described = ("describe_pod_identity_association", "associationId", "association")
    for cluster, one in _described(account, region, known, listed, described):
        name = one["associationId"]
        yield Thing("pod identity", f"{cluster}/{name}", region, one.get("tags", {}), name, cluster, cluster)


CLUSTER = Kind(
    "cluster", _clusters, lambda account, thing: account.client("eks", thing.region).delete_cluster(name=thing.id)
)
NODE_GROUP = Kind(
    "node group",
    _node_groups,
    lambda account, thing: account.client("eks", thing.region).delete_nodegroup(
        clusterName=thing.parent, nodegroupName=thing.handle
    ),
)
ADDON = Kind(
    "add-on",
    _addons,
    lambda account, thing: account.client("eks", thing.region).delete_addon(
        clusterName=thing.parent, addonName=thing.handle
    ),
)
ASSOCIATION = Kind(
    "pod identity",
    _associations,
    lambda account, thing: account.client("eks", thing.region).delete_pod_identity_association(
        clusterName=thing.parent, associationId=thing.handle
    ),
)
