"""Everything that stacks take from outside, looked up for the lock file."""

import difflib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date

from pydantic import ValidationError

from cloud import hub, registry, releases
from cloud.account import Account
from cloud.web import Get
from experiment import machines, pins
from experiment.cluster import EksCluster
from experiment.errors import SplitbedError
from experiment.nodes import architecture, gpus
from experiment.pins import ADDONS_AFTER_NODES, ADDONS_BEFORE_NODES, Pins
from experiment.settings import Settings


@dataclass(frozen=True)
class Wanted:
    """What is to be looked up, without repetition and in a fixed order.

    Attributes:
        images: references without a digest, each with the architectures of the nodes that pull it.
        models: of the Hub, without a revision.
        regions: those of each version of Kubernetes.
        families: node images of each version of Kubernetes.
    """

    images: dict[str, set[str]] = field(default_factory=dict)
    models: set[str] = field(default_factory=set)
    regions: dict[str, set[str]] = field(default_factory=dict)
    families: dict[str, set[str]] = field(default_factory=dict)


def wanted(stacks: Iterable[Settings]) -> Wanted:
    """Return what these stacks leave open; those on a cluster that was given leave nothing."""
    found = Wanted()
    for settings in stacks:
        cluster = settings.cluster
        if not isinstance(cluster, EksCluster):
            continue
        found.regions.setdefault(cluster.version, set()).add(cluster.region)
        architectures = set()
        for group in (settings.nodes.system, settings.nodes.engine):
            known = architecture(group)
            if known is not None:
                architectures.add(known)
                family = machines.ami_type(known, gpus(group))
                found.families.setdefault(cluster.version, set()).add(family)
        for reference in pins.images(settings):
            if "@" not in reference:
                found.images.setdefault(reference, set()).update(architectures)
        if settings.model.weights.source == "hub" and settings.model.revision is None:
            found.models.add(settings.model.name)
    return found


def look_up(what: Wanted, account: Account, get: Get, today: date, say: Callable[[str], None] = lambda _: None) -> Pins:
    """Ask registries, the Hub and AWS, and return what they say today.

    Raises:
        SplitbedError: one of them does not have, or not say, what it was asked; nothing is made up in its place.
    """
    images = {}
    for reference, architectures in sorted(what.images.items()):
        say(reference)
        found = registry.resolve(reference, get)
        lacking = architectures - found.architectures
        if found.architectures and lacking:
            raise registry.RegistryError(
                f"{reference} is made for {', '.join(sorted(found.architectures))}, and its nodes are "
                f"{', '.join(sorted(lacking))}.",
                "Name an image for both, or one for each architecture (engine.image).",
            )
        images[reference] = found.digest
    address, bearer = hub.address(), hub.token()
    revisions = {}
    for model in sorted(what.models):
        say(model)
        revisions[model] = hub.look_up(model, get, address, bearer).revision
    addons, images_of_nodes = {}, {}
    for kubernetes, regions in sorted(what.regions.items()):
        say(f"Kubernetes {kubernetes}")
        addons[kubernetes] = {
            addon: _oldest(releases.addon_version(account, region, kubernetes, addon) for region in sorted(regions))
            for addon in (*ADDONS_BEFORE_NODES, *ADDONS_AFTER_NODES)
        }
        images_of_nodes[kubernetes] = {
            family: _oldest(releases.image_release(account, region, kubernetes, family) for region in sorted(regions))
            for family in sorted(what.families[kubernetes])
        }
    try:
        return Pins(day=today, images=images, revisions=revisions, addons=addons, releases=images_of_nodes)
    except ValidationError as error:
        first = error.errors()[0]
        raise SplitbedError(
            f"What was found for {'.'.join(map(str, first['loc']))} is no version as they are known: {first['input']}.",
            "Report it: `splitbed pin` reads it wrongly.",
        ) from None


def text(found: Pins) -> str:
    """Return the lock file."""
    return found.model_dump_json(indent=2) + "\n"


def difference(before: str, after: str, name: str) -> list[str]:
    """Return what changes in the lock file, as lines of a unified diff without its context."""
    lines: Iterator[str] = difflib.unified_diff(before.splitlines(), after.splitlines(), name, name, n=1, lineterm="")
    return list(lines)


def _oldest(versions: Iterable[str]) -> str:
    """Return the lowest: a new one comes to one region after the other, and old ones stay everywhere."""
    return min(versions, key=_order)


def _order(version: str) -> list[int]:
    return [int(part) for part in "".join(sign if sign.isdigit() else " " for sign in version).split()]
