"""Tasks on a time line, as an engine with so many hands does them: the first that is ready first."""

import heapq
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from experiment.waits import Wait


@dataclass(frozen=True)
class Task:
    """Something that takes a while, and what must be done before.

    Attributes:
        id: of its own.
        what: in words, for who reads the chain.
        wait: how long it takes.
        needs: ids of what must be done before; those of no task are done already.
    """

    id: str
    what: str
    wait: Wait
    needs: frozenset[str]


@dataclass(frozen=True)
class Link:
    """One task of the chain that decides.

    Attributes:
        task: it.
        began_s: when.
        for_a_hand: whether it waited for a hand rather than for what it needs.
    """

    task: Task
    began_s: float
    for_a_hand: bool = False


@dataclass(frozen=True)
class Makespan:
    """From the first task's beginning to the last one's end.

    Attributes:
        seconds: of all.
        chain: the tasks that followed one another without a pause until that end; those that take no time are left out.
    """

    seconds: float
    chain: tuple[Link, ...]


class CycleError(ValueError):
    """Tasks wait for one another."""


def makespan(tasks: Sequence[Task], hands: int) -> Makespan:
    """Return how long the tasks take.

    Args:
        tasks: in the order in which those that are ready are begun.
        hands: how many are done at once.

    Raises:
        CycleError: some need one another.
    """
    by_id = {task.id: task for task in tasks}
    missing = {task.id: {need for need in task.needs if need in by_id} for task in tasks}
    order = {task.id: number for number, task in enumerate(tasks)}
    ready = [order[id_] for id_, needs in missing.items() if not needs]
    heapq.heapify(ready)
    running: list[tuple[float, int]] = []
    began: dict[str, float] = {}
    after: dict[str, tuple[str, bool]] = {}
    now, last, free = 0.0, "", hands
    waiting_since = dict.fromkeys((tasks[number].id for number in ready), ("", 0.0))
    while ready or running:
        while ready and free:
            id_ = tasks[heapq.heappop(ready)].id
            need, since = waiting_since[id_]
            began[id_], after[id_] = now, (need, False) if since == now else (last, True)
            heapq.heappush(running, (now + by_id[id_].wait.seconds, order[id_]))
            free -= 1
        now, number = heapq.heappop(running)
        last, free = tasks[number].id, free + 1
        for id_, needs in missing.items():
            if last in needs:
                needs.discard(last)
                if not needs:
                    waiting_since[id_] = last, now
                    heapq.heappush(ready, order[id_])
    if len(began) < len(tasks):
        raise CycleError(f"these wait for one another: {', '.join(sorted(set(by_id) - set(began)))}")
    return Makespan(now, tuple(reversed(list(_back(last, by_id, began, after)))))


def _back(
    id_: str, tasks: Mapping[str, Task], began: Mapping[str, float], after: Mapping[str, tuple[str, bool]]
) -> Iterator[Link]:
    while id_:
        before, for_a_hand = after[id_]
        if tasks[id_].wait.seconds:
            yield Link(tasks[id_], began[id_], for_a_hand)
        id_ = before
