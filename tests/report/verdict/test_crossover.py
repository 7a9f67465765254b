import pytest

from report.verdict import words
from report.verdict.comparison import Comparison, Difference, Side, Word
from report.verdict.crossover import crossovers


def at(users: int, change: float, word: Word | None, mode: str | None = None) -> Comparison:
    side = Side(topology="a", mode=None, runs=5, repeats=15, middle=1, low=1, high=1)
    return Comparison(
        test="sweep", kind="concurrency", cell=f"sweep-{users}", value=users, figure="tokens_per_s", title="tokens/s",
        unit="tokens/s", better="higher", judged=True, first=side,
        second=side.model_copy(update={"topology": "b", "mode": mode}),
        difference=Difference(change=change, low=None, high=None, level=None, paired=True, detectable=None),
        word=word, withheld=(),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("series", "said", "brackets"),
    [
        ([(1, "slower"), (4, "slower"), (16, "faster")], "found", [(4, 16)]),
        ([(1, "slower"), (4, "no difference shown"), (16, "faster")], "found", [(1, 16)]),
        ([(1, "slower"), (4, "no difference shown"), (16, "slower")], "none in the tested range", []),
        ([(1, "no difference shown"), (4, "no difference shown")], "not shown", []),
        ([(1, "slower"), (2, "faster"), (4, "slower")], "found", [(1, 2), (2, 4)]),
    ],
)
def test_a_crossover_lies_between_levels_with_words(
    series: list[tuple[int, Word]], said: str, brackets: list[tuple[int, int]]
) -> None:
    (found,) = crossovers([at(users, 0.5, word) for users, word in series])
    assert (found.basis, found.said) == ("judged", said)
    assert [(one.low, one.high) for one in found.brackets] == brackets


def test_without_words_it_is_described_and_says_so() -> None:
    (found,) = crossovers([at(1, -0.1, None), at(4, 0.1, None)])
    assert (found.basis, found.said) == ("described", "found")
    assert words.crossover(found) == (
        "sweep: a and b cross between 1 and 4 users: a below, b above, as described by what was measured, "
        "without intervals"
    )


def test_one_level_has_no_crossover_and_single_modes_make_none() -> None:
    assert crossovers([at(1, 0.1, "faster")]) == ()
    assert crossovers([at(1, 0.1, "faster"), at(4, -0.1, "slower", mode="one batch")]) == ()


def test_none_and_not_shown_name_the_tested_range() -> None:
    (none,) = crossovers([at(1, -0.1, "slower"), at(8, -0.1, "slower")])
    assert "none in the tested range, 1 to 8 users" in words.crossover(none)
    (unknown,) = crossovers([at(1, -0.1, "no difference shown"), at(8, -0.1, "no difference shown")])
    assert "no difference was shown at any of 1 to 8 users" in words.crossover(unknown)
