"""Units that a reader can say: seconds as milliseconds where all of them are short."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Scale:
    """By what a value is multiplied, and what it is then of."""

    factor: float
    unit: str

    def said(self, value: float) -> str:
        """Return a value in words."""
        return f"{number(value * self.factor)} {self.unit}".rstrip()

    def range(self, low: float, high: float) -> str:
        """Return two ends in words, the unit once."""
        return f"{number(low * self.factor)} to {self.said(high)}"


def scale(unit: str, values: Iterable[float]) -> Scale:
    """Return how values of a unit are shown together."""
    most = max(values, default=0.0)
    if unit == "s" and most < 2:
        return Scale(1e3, "ms") if most >= 0.002 else Scale(1e6, "µs")
    if unit == "bytes" and most >= 10_000:
        return Scale(1e-3, "kB") if most < 1e7 else Scale(1e-6, "MB")
    return Scale(1.0, unit)


def number(value: float) -> str:
    """Return three significant digits, thousands apart, no exponent."""
    if value == 0:
        return "0"
    size = abs(value)
    places = 0 if size >= 100 else 1 if size >= 10 else 2 if size >= 1 else 3
    return f"{value:,.{places}f}"
