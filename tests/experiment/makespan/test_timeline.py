"""Tasks on a time line."""

import pytest

from experiment.makespan.timeline import CycleError, Makespan, Task, makespan
from experiment.waits import Wait


def task(id_: str, seconds: float, *needs: str) -> Task:
    return Task(id_, id_, Wait(seconds), frozenset(needs))


def chain(found: Makespan) -> list[tuple[str, float, bool]]:
    return [(link.task.id, link.began_s, link.for_a_hand) for link in found.chain]


def test_the_longest_chain_decides() -> None:
    found = makespan([task("a", 3), task("b", 2, "a"), task("c", 4), task("d", 1, "b", "c")], hands=8)
    assert found.seconds == 6
    assert chain(found) == [("a", 0, False), ("b", 3, False), ("d", 5, False)]


def test_what_takes_no_time_is_no_link() -> None:
    found = makespan([task("a", 3), task("whole", 0, "a"), task("b", 2, "whole")], hands=8)
    assert chain(found) == [("a", 0, False), ("b", 3, False)]


def test_a_need_that_is_no_task_is_met() -> None:
    assert makespan([task("a", 3, "elsewhere")], hands=1).seconds == 3


def test_one_hand_does_one_after_another_and_says_so() -> None:
    found = makespan([task("a", 3), task("b", 2), task("c", 1, "a")], hands=1)
    assert found.seconds == 6
    assert chain(found) == [("a", 0, False), ("b", 3, True), ("c", 5, True)]


def test_those_that_are_ready_begin_in_their_order() -> None:
    found = makespan([task("long", 5), task("short", 1), task("last", 1, "short")], hands=2)
    assert found.seconds == 5


def test_who_waits_for_one_another_never_begins() -> None:
    with pytest.raises(CycleError, match="a, b"):
        makespan([task("a", 1, "b"), task("b", 1, "a"), task("c", 1)], hands=2)
