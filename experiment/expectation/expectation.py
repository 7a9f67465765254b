"""One line of what to expect."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Expectation:
    """A prediction, beside what was measured if anybody did.

    Attributes:
        metric: what is predicted.
        unit: of the numbers.
        predicted: the prediction.
        measured: what was measured of the same; None if nobody did.
        source: what the prediction stands on, and who measured.
        extrapolates: the prediction is for something unlike what its numbers were taken from.
        calibrated: its numbers were taken from this very measurement, so that their agreement says nothing.
    """

    metric: str
    unit: str
    predicted: float
    measured: float | None
    source: str
    extrapolates: bool
    calibrated: bool = False

    @property
    def error(self) -> float | None:
        """The prediction's error as a share of what was measured: 0.1 is 10 percent too much."""
        return None if self.measured is None else self.predicted / self.measured - 1
