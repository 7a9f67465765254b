"""Advice on names that the catalogues do not know: what is not known cannot be checked."""

import difflib
from collections.abc import Iterator

from experiment.catalogue.models import models
from experiment.catalogue.regions import meant, regions
from experiment.cluster import EksCluster
from experiment.plan.facts import Facts
from experiment.warning import Warning as Warned

MODEL_NOT_KNOWN = "model-not-known"


def warnings(facts: Facts) -> Iterator[Warned]:
    """Return the names of which nothing is known, and what was probably meant."""
    yield from _model(facts)
    yield from _region(facts)


def _model(facts: Facts) -> Iterator[Warned]:
    if facts.geometry is not None or not facts.settings.topology.groups:
        return
    name = facts.settings.model.name
    known = {one.lower(): one for one in models()}
    near = difflib.get_close_matches(name.lower(), known, n=1)
    meant_one = f"Did you mean {known[near[0]]}? " if near else ""
    yield Warned(
        MODEL_NOT_KNOWN,
        f"Nothing is known of {name}: whether it fits, how long it starts and how fast it is cannot be told, and "
        f"nothing stops a mistake. {meant_one}Give its shape as model.geometry, from its config.json.",
    )


def _region(facts: Facts) -> Iterator[Warned]:
    cluster = facts.settings.cluster
    if not isinstance(cluster, EksCluster) or cluster.region in regions():
        return
    near = " or ".join(meant(cluster.region))
    yield Warned(
        "region-not-known",
        f"{cluster.region} is no region of AWS that was known on the day of the data. "
        + (f"Did you mean {near}?" if near else "Look it up."),
        mistake=True,
    )
