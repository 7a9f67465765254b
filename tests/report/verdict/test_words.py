import pytest

from report.verdict import words
from report.verdict.comparison import Comparison, Difference, Side
from report.verdict.method import Method


def compared(unit: str, change: float) -> Comparison:
    side = Side(topology="a", mode=None, runs=1, repeats=1, middle=0.5, low=0.5, high=0.5)
    difference = Difference(
        change=change, low=change - 0.05, high=change + 0.05, level=0.995, paired=True, detectable=0.06
    )
    return Comparison(
        test="t", kind="one-user", cell="t", value=None, figure="f", title="of it", unit=unit, better="higher",
        judged=True, first=side, second=side.model_copy(update={"topology": "b"}), difference=difference,
        word="faster", withheld=(),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("unit", "change", "said"),
    [("tokens/s", 0.21, "21 % more"), ("tokens/s", -0.21, "21 % fewer"), ("s", 0.66, "66 % longer"),
     ("s", -0.034, "3.4 % shorter"), ("", -0.5, "50 % less")],
)  # fmt: skip
def test_a_change_in_words(unit: str, change: float, said: str) -> None:
    assert words.change(compared(unit, change)) == said


def test_a_comparison_in_a_sentence() -> None:
    assert words.sized(compared("tokens/s", 0.21)) == (
        "b against a in t: faster: 21 % more of it (+16 % to +26 % (99.5 %, in pairs); "
        "a change of 6.0 % would have been shown)"
    )


@pytest.mark.parametrize(
    ("value", "unit", "said"),
    [(0.0521, "s", "52.1 ms"), (5.67, "s", "5.67 s"), (92.0, "tokens/s", "92.0 tokens/s"), (1.21, "", "1.21"),
     (5200.0, "tokens/s", "5200 tokens/s"), (0.0, "s", "0.00 s"), (0.0002, "s", "0.200 ms")],
)  # fmt: skip
def test_amounts(value: float, unit: str, said: str) -> None:
    assert words.amount(value, unit) == said


def test_what_the_method_promises() -> None:
    fixed = words.method(Method(alpha=0.05, power=0.9, looks=(), family=14))
    assert fixed.startswith("14 judged comparisons, looked at once")
    assert "at most 5.0 %" in fixed
    assert "after 4, 6, 8 runs" in words.method(Method(alpha=0.05, power=0.9, looks=(4, 6, 8), family=14))
    assert "No comparison was judged" in words.method(Method(alpha=0.05, power=0.9, looks=(), family=0))
