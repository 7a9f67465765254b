"""Numbers to be followed as they are printed."""

from experiment.rounding import at_least, at_most, counted


def test_a_limit_is_rounded_down_and_a_need_up() -> None:
    assert (at_most(9.579, 2), at_least(9.571, 2)) == (9.57, 9.58)


def test_what_is_exact_stays() -> None:
    assert (at_most(0.58, 2), at_least(0.58, 2), at_most(0.1 + 0.2, 1), at_least(0.1 + 0.2, 1)) == (
        0.58,
        0.58,
        0.3,
        0.3,
    )
    assert at_most(0, 2) == 0


def test_one_is_not_many() -> None:
    assert [counted(number, "GPU") for number in (0.5, 1, 2)] == ["0.5 GPUs", "1 GPU", "2 GPUs"]
