"""Who tells whether something else than the test was measured."""

from dataclasses import dataclass
from typing import Protocol

from experiment.measure.counters import STARTED, Counters


@dataclass(frozen=True)
class Testimony:
    """Reasons why a repeat was disturbed, and what could not be looked at."""

    __test__ = False  # not a test of pytest's

    disturbed: tuple[str, ...] = ()
    unwatched: tuple[str, ...] = ()


_SAME_S = 1.0
"""A start is told by the wall clock; some work it out anew each time."""


class Witness(Protocol):
    """Looks before and after each repeat. One that sees pods, nodes and events comes with the cluster."""

    async def before(self) -> None:
        """Look before the repeat."""

    async def after(self) -> Testimony:
        """Look after it, and tell."""


class Nobody:
    """The witness where only a URL is known."""

    async def before(self) -> None:
        """See `Witness`."""

    async def after(self) -> Testimony:
        """See `Witness`."""
        return Testimony(unwatched=("pods, nodes and events: only an address is known",))


def by_counters(counters: Counters) -> Testimony:
    """Tell what the servers' own counters give away: a server that was started anew counts from zero."""
    if counters.unknown is not None:
        return Testimony(unwatched=(f"counters of the server: {counters.unknown}",))
    disturbed, unwatched = [], []
    for server in counters.servers:
        before, after = server.before.values, server.after.values
        if STARTED not in before or STARTED not in after:
            unwatched.append(f"{server.address}: when its process was started")
        elif abs(before[STARTED] - after[STARTED]) > _SAME_S:
            disturbed.append(f"{server.address} was started anew")
            continue
        counting = (name for name in before if name in after and name.endswith(("_total", "_count")))
        fallen = [name for name in counting if after[name] < before[name]]
        if fallen:
            disturbed.append(f"{server.address} counts less of {', '.join(fallen)} than before: it is another server")
    return Testimony(tuple(disturbed), tuple(unwatched))
