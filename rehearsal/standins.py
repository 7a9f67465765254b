"""What stands in for the parts of a stack that only the person who brings it up can say: end date, pins, kubeconfig."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from experiment import machines, pins
from experiment.cluster import EksCluster
from experiment.nodes import architecture, gpus
from experiment.pins import ADDONS_AFTER_NODES, ADDONS_BEFORE_NODES, Pins
from experiment.settings import Settings

_FAKE = "fa4e" * 10
DIGEST = f"sha256:{_FAKE}{'fa4e' * 6}"
ADDON = "v0.0.0-eksbuild.1"
RELEASE = "0.0.0-20000101"

KUBECONFIG = """\
# A kubeconfig that leads nowhere, for stacks that are compared without their cluster.
apiVersion: v1
kind: Config
current-context: nowhere
contexts: [{name: nowhere, context: {cluster: nowhere, user: nobody}}]
clusters: [{name: nowhere, cluster: {server: "https://127.0.0.1:1"}}]
users: [{name: nobody, user: {}}]
"""


def completed(known: Pins, stacks: Iterable[Settings]) -> Pins:
    """Return the pins with plainly fake ones, which nobody can take for real, for all that they leave open.

    Args:
        known: what was looked up, which stays.
        stacks: whose images, models, add-ons and node images are wanted.
    """
    images, revisions = dict(known.images), dict(known.revisions)
    addons = {version: dict(found) for version, found in known.addons.items()}
    releases = {version: dict(found) for version, found in known.releases.items()}
    for settings in stacks:
        cluster = settings.cluster
        if not isinstance(cluster, EksCluster):
            continue
        for name in (*ADDONS_BEFORE_NODES, *ADDONS_AFTER_NODES):
            addons.setdefault(cluster.version, {}).setdefault(name, ADDON)
        for group in (settings.nodes.system, settings.nodes.engine):
            if found := architecture(group):
                family = machines.ami_type(found, gpus(group))
                releases.setdefault(cluster.version, {}).setdefault(family, RELEASE)
        for reference in pins.images(settings):
            if "@" not in reference:
                images.setdefault(reference, DIGEST)
        if settings.model.weights.source == "hub" and settings.model.revision is None:
            revisions.setdefault(settings.model.name, _FAKE)
    return known.model_copy(update={"images": images, "revisions": revisions, "addons": addons, "releases": releases})


def private(
    document: Mapping[str, Any], key: str, *, end: datetime | None, pins: Path, kubeconfig: Path
) -> dict[str, Any]:
    """Return a stack file for a backend of its own, in which the stack can be brought up on paper.

    Args:
        document: the tracked file.
        key: of the settings in its configuration.
        end: its end date; that of the file if none is given.
        pins: the lock file.
        kubeconfig: taken for the cluster of a stack that was given one.
    """
    found = unsealed(document, key, pins)
    settings = found["config"][key]
    if end is not None:
        settings["end_date"] = end.isoformat()
    if settings.get("cluster", {}).get("kind") == "kubeconfig":
        settings["cluster"] = {**settings["cluster"], "kubeconfig": str(kubeconfig)}
    return found


def unsealed(document: Mapping[str, Any], key: str, pins: Path) -> dict[str, Any]:
    """Return a stack file without what its own backend has sealed, the salt and keys of that, and any budget.

    What is above the budget is the plan's to say, and no reason not to compare.
    """
    kept = {name: value for name, value in document["config"].items() if not _sealed(value)}
    settings = {name: value for name, value in kept[key].items() if name != "budget"}
    return {"config": {**kept, key: settings, "splitbed:pins": str(pins)}}


def sealed(document: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the configuration's keys whose values are encrypted."""
    return tuple(name for name, value in document["config"].items() if _sealed(value))


def _sealed(value: Any) -> bool:
    return isinstance(value, Mapping) and set(value) == {"secure"}
