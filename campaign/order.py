"""Who is measured when: A B B A, so that drift of the machines hits all topologies alike."""

import random
from collections.abc import Iterator
from dataclasses import dataclass

from campaign.campaign import Campaign


@dataclass(frozen=True)
class Turn:
    """One deployment of one topology, measured once.

    Attributes:
        number: counted from 1 over the whole campaign.
        topology: its place among the campaign's topologies, from 0.
        pass_number: which pass over all topologies it belongs to, counted from 1: a pass is a run of each.
        run: the benchmark's run id.
    """

    number: int
    topology: int
    pass_number: int
    run: str


def turns(campaign: Campaign) -> tuple[Turn, ...]:
    """Return all turns up to the last look, in order.

    A pass has each topology once, in an order drawn from the seed; the pass after it has them in reverse.
    """
    found: list[Turn] = []
    passes = _passes(len(campaign.topologies), campaign.seed)
    for number in range(1, max(campaign.looks) + 1):
        for topology in next(passes):
            turn = len(found) + 1
            found.append(Turn(turn, topology, number, f"{campaign.id}-{turn:03d}"))
    return tuple(found)


def letters(campaign: Campaign) -> str:
    """Return the order as people write it: A B B A."""
    return " ".join(chr(ord("A") + turn.topology) for turn in turns(campaign))


def _passes(topologies: int, seed: int) -> Iterator[list[int]]:
    dice = random.Random(f"{seed}/turns")  # noqa: S311  reproducible on purpose; no secret
    while True:
        order = list(range(topologies))
        dice.shuffle(order)
        yield order
        yield order[::-1]
