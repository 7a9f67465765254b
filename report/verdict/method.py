"""By what words are said."""

from experiment.measure.part import Amount, Count, Part
from report.statistics.design import Design

HOW = (
    "A change is of the second topology against the first, of geometric means of runs; its interval is Student's, of "
    "logarithms. Intervals with a word hold all together at the level of the campaign; others hold each by itself."
)


class Method(Part):
    """The design, and how many comparisons it was shared among."""

    alpha: Amount
    power: Amount
    looks: tuple[Count, ...]
    family: Count
    how: str = HOW

    @classmethod
    def of(cls, design: Design, family: int) -> "Method":
        """Return the method of a verdict with so many judged comparisons."""
        return cls(alpha=design.alpha, power=design.power, looks=design.looks, family=family)
