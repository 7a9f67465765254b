"""Which replica is behind each connection: a Service hands on the client's own address, and a replica's agent sees it.

A Service balances connections, not requests, so that a connection's replica is known for all that is sent over it.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Protocol

from benchmark.stage import Stage

PERIOD_S = 0.2
"""Streams last longer; it asks only while there is a connection whose replica is not known."""


class Seer(Protocol):
    """Sees who is connected to a replica."""

    async def peers(self) -> frozenset[tuple[str, int]]:
        """Return address and port of all who are; nobody if it cannot see."""


@dataclass(frozen=True)
class Peers:
    """Looks for each connection at the replicas; `seers` are theirs, by their address."""

    seers: Sequence[tuple[str, Seer]] = ()

    @asynccontextmanager
    async def watching(self, stage: Stage) -> AsyncIterator[None]:
        """Look as long as a test is played, and note on the stage what was seen."""
        if not self.seers:
            yield
            return
        task = asyncio.ensure_future(self._watch(stage))
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _watch(self, stage: Stage) -> None:
        while True:
            await asyncio.sleep(PERIOD_S)
            unknown = {own: number for number, own in stage.opened.items() if number not in stage.behind}
            if unknown:
                seen = await asyncio.gather(*(seer.peers() for _, seer in self.seers))
                for (address, _), connected in zip(self.seers, seen, strict=True):
                    for own in connected & unknown.keys():
                        stage.behind[unknown[own]] = address
