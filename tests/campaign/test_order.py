"""Who is measured when."""

from collections import Counter
from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from campaign import topologies
from campaign.order import letters, turns
from experiment.kinds.base import Slug
from experiment.topology import Split
from report.statistics.pairing import pairs
from tests.campaign.conftest import made

SPLITS = [Split(kind="split", pipeline=stages) for stages in range(2, 7)]


@given(count=st.integers(2, 5), seed=st.integers(), most=st.integers(1, 12))
def test_each_pass_has_each_topology_once_and_the_next_mirrors_it(count: int, seed: int, most: int) -> None:
    found = turns(made(topologies=tuple(SPLITS[:count]), seed=seed, looks=(most,)))
    passes = [[turn.topology for turn in found if turn.pass_number == number] for number in range(1, most + 1)]
    assert all(Counter(one) == Counter(range(count)) for one in passes)
    assert all(one == other[::-1] for one, other in zip(passes[::2], passes[1::2], strict=False))
    assert [turn.number for turn in found] == list(range(1, count * most + 1))
    assert len({turn.run for turn in found}) == len(found)


@given(count=st.integers(2, 5), seed=st.integers(), most=st.integers(2, 12))
def test_wherever_it_ends_after_a_pass_any_two_topologies_can_be_paired(count: int, seed: int, most: int) -> None:
    found = turns(made(topologies=tuple(SPLITS[:count]), seed=seed, looks=(most,)))
    for first, second in combinations(range(count), 2):
        order = [(turn.topology == second, turn.number) for turn in found if turn.topology in (first, second)]
        found_pairs = pairs(order)
        assert found_pairs is not None
        assert len(found_pairs) == most


def test_the_order_is_of_its_seed() -> None:
    orders = {seed: letters(made(seed=seed, looks=(8,))) for seed in range(8)}
    assert len(set(orders.values())) > 1
    assert orders[0] == letters(made(seed=0, looks=(8,)))
    assert letters(made(seed=0, looks=(2,))) in ("A B B A", "B A A B")
    assert orders[0].startswith(letters(made(seed=0, looks=(4,)))), "more looks append turns"


def test_a_run_id_is_one_that_the_benchmark_takes() -> None:
    last = turns(made(topologies=topologies.parsed(["single", "split"]), looks=(64,)))[-1]
    assert TypeAdapter(Slug).validate_python(last.run) == "c20261201-120000-128"
