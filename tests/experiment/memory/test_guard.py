import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiment.memory.guard import guard

GIB = st.floats(0, 200)


def test_a_pod_full_of_page_cache_has_what_the_12b_post_saw() -> None:
    seen = guard(limit_gib=26, low_gib=19.1, high_gib=19.8, checkpoint_gib=22.28, own_page_cache=True)
    assert (seen.worst_gib, seen.best_gib) == (0.58, 0.97)
    assert seen.page_cache_gib == pytest.approx(26 - 19.8 - 0.58)


def test_page_cache_of_another_costs_nothing() -> None:
    seen = guard(limit_gib=26, low_gib=19.1, high_gib=19.8, checkpoint_gib=22.28)
    assert seen.best_gib == pytest.approx(6.9)
    assert seen.worst_gib == 0.58


def test_a_checkpoint_smaller_than_the_room_is_simply_taken_off() -> None:
    seen = guard(limit_gib=20, low_gib=7.6, high_gib=7.6, checkpoint_gib=1.86, own_page_cache=True)
    assert seen.best_gib == seen.worst_gib == pytest.approx(20 - 7.6 - 1.86)


def test_a_host_with_less_than_the_limit_decides() -> None:
    seen = guard(limit_gib=26, low_gib=10, high_gib=11, checkpoint_gib=2, host_gib=12)
    assert (seen.best_gib, seen.worst_gib) == (2, 1)


@given(GIB, GIB, GIB, GIB, st.one_of(st.none(), GIB), st.booleans())
def test_worst_is_never_better_than_best(
    limit: float, low: float, more: float, checkpoint: float, host: float | None, own: bool
) -> None:
    seen = guard(
        limit_gib=limit, low_gib=low, high_gib=low + more, checkpoint_gib=checkpoint, host_gib=host, own_page_cache=own
    )
    assert 0 <= seen.worst_gib <= seen.best_gib <= limit
    assert seen.page_cache_gib >= 0
