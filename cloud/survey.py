"""What is there in an account, of one experiment or of all."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from cloud.account import Account, home
from cloud.kinds.all import SURVEY
from cloud.kinds.kind import Kind
from cloud.thing import Thing
from experiment import names


@dataclass(frozen=True)
class Owned:
    """A thing with the experiment it belongs to, which its own tags may have failed to say."""

    thing: Thing
    experiment: str


def survey(account: Account, regions: Sequence[str], kinds: Iterable[Kind] = SURVEY) -> list[Thing]:
    """Return what may be an experiment's in these regions, and what has no region, in the order of `kinds`.

    Raises:
        AWSRefusedError: a service refused to list what it has; what cannot be seen cannot be said to be gone.
    """
    found: list[Thing] = []
    for region in regions:
        here: list[Thing] = []
        for kind in kinds:
            if not kind.everywhere:
                here.extend(kind.find(account, region, here))
        found.extend(here)
    if regions:
        for kind in kinds:
            if kind.everywhere:
                found.extend(kind.find(account, home(regions[0]), ()))
    return found


def owned(things: Sequence[Thing], experiment: str | None = None) -> list[Owned]:
    """Return what belongs to an experiment, or to any of ours if none is named.

    A thing is whose its tag says. One without that tag belongs to the experiment whose cluster it is part of, by the
    tags or the name that AWS gives to what it makes itself, or to that of the instance it is attached to.

    Args:
        things: as `survey` found them.
        experiment: its name in the settings.
    """
    by_cluster = {
        (thing.region, thing.id): thing.experiment
        for thing in things
        if thing.kind == "cluster" and thing.experiment is not None
    }
    known: dict[tuple[str, str], str] = {}
    for thing in things:
        whose = thing.experiment
        if whose is None and experiment is not None and thing.of_cluster == names.object_name(experiment):
            whose = experiment
        if whose is None and thing.of_cluster is not None:
            whose = by_cluster.get((thing.region, thing.of_cluster))
        if whose is None and thing.parent:
            whose = known.get((thing.region, thing.parent))
        if whose is not None:
            known[thing.region, thing.id] = whose
    return [
        Owned(thing, known[thing.region, thing.id])
        for thing in things
        if (thing.region, thing.id) in known and experiment in (None, known[thing.region, thing.id])
    ]
