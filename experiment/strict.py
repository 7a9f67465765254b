"""The base of every model that is read from text a person wrote."""

from typing import Any, Self

from pydantic import BaseModel, ConfigDict, model_validator
from pydantic_core import PydanticCustomError

_LARGEST = 2**63


class Strict(BaseModel):
    """Frozen, without type coercion; an unknown key is an error, since it is most often a misspelt one.

    A whole number that a machine would not hold is an error wherever it stands: arithmetic with it may overflow.
    """

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", allow_inf_nan=False)

    @model_validator(mode="after")
    def _numbers_have_an_end(self) -> Self:
        for key, value in self:
            if any(isinstance(one, int) and abs(one) >= _LARGEST for one in _entries(value)):
                raise PydanticCustomError(
                    "too_large", "it has too many digits", {"key": key, "remedy": "Write a smaller number."}
                )
        return self


def _entries(value: Any) -> tuple[Any, ...]:
    """Return what is in a list, or the value itself; a mapping with known keys looks at its own."""
    return value if isinstance(value, tuple) else (value,)
