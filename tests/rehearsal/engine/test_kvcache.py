"""Blocks are neither lost nor given twice, whatever is asked in whatever order."""

from hypothesis import given
from hypothesis import strategies as st

from rehearsal.engine.kvcache import BlockPool, BlockTable


def filled(pool: BlockPool, ids: list[int]) -> BlockTable:
    table = BlockTable()
    pool.share(table, pool.hit(ids))
    assert pool.grow(table, len(ids))
    pool.keep(table, ids, len(ids))
    return table


def test_whole_blocks_are_found_again_but_never_the_last_token() -> None:
    pool = BlockPool(10, block_size=4)
    ids = list(range(12))
    pool.release(filled(pool, ids))
    assert pool.used == 0
    assert len(pool.hit(ids)) == 2
    assert len(pool.hit([*ids, 12])) == 3
    assert len(pool.hit([99, *ids[1:]])) == 0


def test_shared_blocks_count_once() -> None:
    pool = BlockPool(10, block_size=4)
    ids = list(range(9))
    first, second = filled(pool, ids), filled(pool, ids)
    assert pool.used == 2 + 2
    pool.release(first)
    assert pool.used == 3
    pool.release(second)
    assert pool.used == 0


def test_idle_blocks_give_way_the_longest_unused_first() -> None:
    pool = BlockPool(4, block_size=4)
    old, new = list(range(8)), list(range(100, 108))
    pool.release(filled(pool, old))
    pool.release(filled(pool, new))
    table = BlockTable()
    assert pool.grow(table, 8)
    assert pool.hit([*old, 1]) == []
    assert len(pool.hit([*new, 1])) == 2


def test_no_block_is_given_when_there_are_not_enough() -> None:
    pool = BlockPool(2, block_size=4)
    table = BlockTable()
    assert not pool.grow(table, 9)
    assert (table.blocks, pool.used) == ([], 0)


def test_without_caching_nothing_is_found() -> None:
    pool = BlockPool(4, block_size=4, caching=False)
    pool.release(filled(pool, list(range(8))))
    assert pool.hit(list(range(9))) == []


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(1, 30), st.booleans()), max_size=40), st.integers(3, 20))
def test_conservation(requests: list[tuple[int, int, bool]], capacity: int) -> None:
    pool = BlockPool(capacity, block_size=4)
    held: list[BlockTable] = []
    for family, length, let_go in requests:
        ids = [family, *range(length)]
        hit = pool.hit(ids)
        if pool.can_hold(len(ids), hit):
            table = BlockTable()
            pool.share(table, hit)
            assert pool.grow(table, len(ids))
            pool.keep(table, ids, len(ids))
            held.append(table)
        if let_go and held:
            pool.release(held.pop(0))
        shared = {number for table in held for number in table.blocks if number is not None}
        private = sum(number is None for table in held for number in table.blocks)
        assert pool.used == len(shared) + private <= capacity
    for table in held:
        pool.release(table)
    assert pool.used == 0
