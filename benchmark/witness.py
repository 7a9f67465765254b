"""Who tells whether something else than the test was measured."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from benchmark.endpoint import Endpoint
from experiment.measure.counters import GENERATED_TOKENS, STARTED, Counters
from experiment.measure.pods import Pods
from experiment.measure.proof import Proof
from experiment.measure.request import Reply, Request


@dataclass(frozen=True)
class Testimony:
    """Reasons why a repeat was disturbed, what could not be looked at, and what was counted in the pods."""

    __test__ = False  # not a test of pytest's

    disturbed: tuple[str, ...] = ()
    unwatched: tuple[str, ...] = ()
    pods: Pods = field(default_factory=lambda: Pods(unknown="nobody looked"))


_SAME_S = 1.0
"""A start is told by the wall clock; some work it out anew each time."""


class Witness(Protocol):
    """Looks before and after each repeat. One that sees pods, nodes and events comes with the cluster."""

    async def before(self) -> None:
        """Look before the repeat."""

    async def after(self) -> Testimony:
        """Look after it, and tell."""


class Prover(Protocol):
    """Proves before the first test, and after each disturbance, that what runs is what the stack asked for."""

    async def prove(self, servers: Sequence[Endpoint], limit_s: float, say: Callable[[str], None]) -> Proof:
        """Wait until all is there, and look at it; `servers` are the addresses of all copies of the model.

        Raises:
            SplitbedError: something else runs, or not all within `limit_s` seconds.
        """


class Nobody:
    """The witness where only a URL is known."""

    async def before(self) -> None:
        """See `Witness`."""

    async def after(self) -> Testimony:
        """See `Witness`."""
        reason = "only an address is known"
        return Testimony(unwatched=(f"pods, nodes and events: {reason}",), pods=Pods(unknown=reason))


def by_counters(counters: Counters, requests: Sequence[Request]) -> Testimony:
    """Tell what the servers' own counters give away: that one was started anew, or had other work than the requests."""
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
    generated, received = counters.change(GENERATED_TOKENS), _received(requests)
    if not disturbed and generated is not None and received is not None and generated != received:
        told = f"the servers generated {generated:.0f} tokens where {received} were received"
        if generated > received:
            disturbed.append(f"{told}: somebody else asked them too")
        else:
            unwatched.append(f"{told}: others answered, whose counters were not read")
    return Testimony(tuple(disturbed), tuple(unwatched))


def _received(requests: Sequence[Request]) -> int | None:
    """Return the tokens of all requests; none if one failed, since what was made for it is not known."""
    outcomes = [request.outcome for request in requests]
    replies = [outcome for outcome in outcomes if isinstance(outcome, Reply)]
    return sum(reply.tokens.output for reply in replies) if len(replies) == len(outcomes) else None
