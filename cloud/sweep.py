"""What an experiment has left behind, and its deletion."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from botocore.exceptions import BotoCoreError, ClientError

from cloud.account import Account
from cloud.clock import Clock
from cloud.kinds.all import DELETION, KINDS
from cloud.kinds.kind import Kind
from cloud.kinds.logs import LOG_GROUP
from cloud.refusal import AWSRefusedError, explain
from cloud.survey import owned, survey
from cloud.thing import Thing
from experiment import ownership

LOOK_AGAIN_S = 120.0
"""After which what was still being written has made its log group anew (pitfalls B6)."""

_PAUSE_S = 15.0
_PATIENCE_S = 1800.0  # of a node group and then a cluster, each some ten minutes


@dataclass(frozen=True)
class Leftovers:
    """What there is of an experiment, in the order in which it can go, and what is meant to stay."""

    leftovers: tuple[Thing, ...]
    kept: tuple[Thing, ...]


@dataclass(frozen=True)
class Swept:
    """What was deleted, and what is still there with the reason."""

    deleted: tuple[Thing, ...]
    remaining: tuple[tuple[Thing, str], ...]


def look(account: Account, experiment: str, regions: Sequence[str]) -> Leftovers:
    """Return what is there of an experiment; nothing is changed.

    Raises:
        AWSRefusedError: a service refused to list what it has.
    """
    order = [kind.name for kind in DELETION]
    found = [one.thing for one in owned(survey(account, regions), experiment)]
    found.sort(key=lambda thing: order.index(thing.kind))
    kept = tuple(thing for thing in found if ownership.KEPT in thing.tags)
    return Leftovers(tuple(thing for thing in found if thing not in kept), kept)


def delete(
    account: Account,
    experiment: str,
    regions: Sequence[str],
    clock: Clock,
    say: Callable[[str], None] = lambda _: None,
) -> Swept:
    """Delete what is there of an experiment, kind after kind, until it is gone or half an hour has passed.

    What another experiment's tag is on is never asked to go. A kind waits until all before it have gone: AWS refuses
    to delete what something still depends on. Two minutes after the last, log groups are looked for once more.

    Args:
        account: whose.
        experiment: its name.
        regions: where.
        clock: to wait by.
        say: is told what is asked to go.
    """
    began = clock.now()
    asked: dict[tuple[str, str, str], Thing] = {}
    refused: dict[tuple[str, str, str], AWSRefusedError] = {}

    def patient() -> bool:
        return (clock.now() - began).total_seconds() < _PATIENCE_S

    for kind in DELETION:
        while left := _of_kind(account, experiment, regions, kind):
            for thing in left:
                if _key(thing) not in asked or _key(thing) in refused:
                    if _key(thing) not in asked:
                        say(str(thing))
                    _ask(account, kind, thing, refused)
                    asked[_key(thing)] = thing
            left = _of_kind(account, experiment, regions, kind)
            hopeless = all(_key(thing) in refused and refused[_key(thing)].denied for thing in left)
            if hopeless or not patient():
                break
            clock.sleep(_PAUSE_S)
    clock.sleep(LOOK_AGAIN_S)
    for thing in _of_kind(account, experiment, regions, LOG_GROUP):
        say(f"{thing}, which was there again")
        _ask(account, LOG_GROUP, thing, refused)
        asked[_key(thing)] = thing
    clock.sleep(_PAUSE_S)
    still = {_key(thing): thing for thing in look(account, experiment, regions).leftovers}
    return Swept(
        tuple(thing for key, thing in asked.items() if key not in still),
        tuple((thing, str(refused.get(key, "It has not gone yet."))) for key, thing in still.items()),
    )


def counted(things: Sequence[Thing]) -> str:
    """Return how many of each kind, as `2 volumes, 1 cluster`."""
    counts = Counter(thing.kind for thing in things)
    return ", ".join(f"{number} {kind}{'s' if number > 1 else ''}" for kind, number in counts.items())


def _of_kind(account: Account, experiment: str, regions: Sequence[str], kind: Kind) -> list[Thing]:
    """Return what is there of one kind and is to go; kinds by which its things are found are looked for too."""
    by = {
        "volume": ("instance",),
        "network interface": ("instance",),
        "schedule": ("schedule group",),
        "node group": ("cluster",),
        "add-on": ("cluster",),
        "pod identity": ("cluster",),
    }
    kinds = [*(KINDS[name] for name in by.get(kind.name, ())), kind]
    found = owned(survey(account, regions, kinds), experiment)
    return [one.thing for one in found if one.thing.kind == kind.name and ownership.KEPT not in one.thing.tags]


def _key(thing: Thing) -> tuple[str, str, str]:
    return thing.kind, thing.region, thing.id


def _ask(account: Account, kind: Kind, thing: Thing, refused: dict[tuple[str, str, str], AWSRefusedError]) -> None:
    refused.pop(_key(thing), None)
    try:
        kind.delete(account, thing)
    except (ClientError, BotoCoreError) as error:
        refused[_key(thing)] = explain(error, kind.name, thing.region)
