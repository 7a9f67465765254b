"""Differences between listings."""

from rehearsal.leftovers import Listing, diff
from rehearsal.leftovers.processes import Process


def process(pid: int, started: int) -> Process:
    return Process(pid, 1, started, f"program {pid}", "", "", False)


def listing(*processes: Process, **things: set[str]) -> Listing:
    return Listing(frozenset(processes), {kind: frozenset(found) for kind, found in things.items()})


def test_a_process_is_told_from_a_later_one_of_its_number() -> None:
    before = listing(process(5, 100), process(6, 100))
    assert diff(before, listing(process(5, 100))) == []
    (left,) = diff(before, listing(process(5, 200)))
    assert left.startswith("process left: 5 program 5")


def test_what_is_left_and_what_is_missing_is_told_by_kind() -> None:
    before = listing(mount={"/a", "/b"}, address={"x"})
    after = listing(mount={"/b", "/c"}, address={"x"})
    assert diff(before, after) == ["mount left: /c", "mount missing: /a"]


def test_what_comes_and_goes_is_not_missed() -> None:
    before = Listing(frozenset(), {"listening socket": frozenset({"tcp"}), "control group": frozenset({"/a"})})
    after = Listing(frozenset(), {"listening socket": frozenset(), "control group": frozenset()})
    assert diff(before, after) == []


def test_the_machine_is_as_it_was_a_moment_ago() -> None:
    listings = [Listing.take(), Listing.take()]
    kinds = ("mount", "network interface", "address", "route", "kernel setting")
    for kind in kinds:
        assert listings[0].things[kind] == listings[1].things[kind]
    assert listings[0].things["mount"]
