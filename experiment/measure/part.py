"""The base of all parts of a record, and its numbers."""

import math
from collections.abc import Iterable
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field

Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Signed = Annotated[float, Field(allow_inf_nan=False)]
Count = Annotated[int, Field(ge=0)]


class Part(BaseModel):
    """Unknown keys are refused, so that no field is ever lost silently."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Distribution(Part):
    """Values as they came, in a few numbers; percentiles are values that occurred (nearest rank)."""

    count: Count
    mean: Amount
    p50: Amount
    p90: Amount
    p99: Amount
    max: Amount

    @classmethod
    def of(cls, values: Iterable[float | None]) -> Self | None:
        """Return the distribution of the values that exist, or nothing if none does."""
        known = sorted(value for value in values if value is not None)
        if not known:
            return None
        return cls(
            count=len(known),
            mean=math.fsum(known) / len(known),
            p50=percentile(known, 50),
            p90=percentile(known, 90),
            p99=percentile(known, 99),
            max=known[-1],
        )


def percentile(ordered: list[float], percent: float) -> float:
    """Return the smallest of the ordered values that is not below `percent` of them; by the nearest rank.

    Raises:
        IndexError: there is no value.
    """
    return ordered[max(0, math.ceil(len(ordered) * percent / 100) - 1)]


def per_second(amount: float, span_s: float) -> float | None:
    """Return a rate; None where the span is none, or so short that no finite number says it."""
    rate = amount / span_s if span_s else math.inf
    return rate if math.isfinite(rate) else None
