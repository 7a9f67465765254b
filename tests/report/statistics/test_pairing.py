import pytest

from report.statistics.pairing import pairs

pytestmark = pytest.mark.thorough


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ("ab", [(0, 1)]),
        ("abba", [(0, 1), (3, 2)]),
        ("baab", [(1, 0), (2, 3)]),
        ("abbaa", [(0, 1), (3, 2)]),
        ("aabb", None),
        ("abab", None),
        ("a", None),
        ("", None),
    ],
)
def test_neighbours_are_pairs_if_the_topologies_took_turns(order: str, expected: list[tuple[int, int]] | None) -> None:
    assert pairs([(letter == "b", at) for at, letter in enumerate(order)]) == expected
