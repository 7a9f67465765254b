"""A number that a prediction stands on, with where it is from."""

from dataclasses import dataclass

ASSUMED = "assumed"


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """One number.

    Attributes:
        name: what it is of.
        value: in `unit`.
        unit: for example ms, GB/s or GiB.
        source: who measured or documented it; begins with `assumed` if nobody did.
    """

    name: str
    value: float
    unit: str
    source: str

    @property
    def assumed(self) -> bool:
        """Whether nobody measured it."""
        return self.source.startswith(ASSUMED)
