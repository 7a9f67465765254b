"""Which experiment this is, whose, and until when."""

import re
from datetime import date
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, StringConstraints, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from experiment.strict import Strict

ExperimentName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", max_length=63)]
EXPIRED = "expired"
"""Type of the error that says that the end date has passed."""

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_MIDNIGHT = " 00:00:00 +0000 UTC"


def _day(value: Any) -> Any:
    # YAML takes a date without quotes for a moment, and Pulumi hands that over in words of its own.
    text = value.removesuffix(_MIDNIGHT) if isinstance(value, str) else ""
    return date.fromisoformat(text) if _DAY.fullmatch(text) else value


Day = Annotated[date, BeforeValidator(_day, json_schema_input_type=date)]
Line = Annotated[str, StringConstraints(pattern=r"^\S(.*\S)?$", max_length=200)]


class Identity(Strict):
    """The part of the settings that says what the experiment is for."""

    name: ExperimentName = Field(description="a name of lower-case letters, digits and hyphens, at most 63")
    owner: Line = Field(description="one line: the person or team to ask")
    purpose: Line = Field(description="one line: the question this experiment answers")
    end_date: Day | None = Field(
        None, description="the last day on which it may run, as 2026-12-31; none if it costs nothing"
    )

    @field_validator("end_date")
    @classmethod
    def _not_past(cls, end_date: date | None, info: ValidationInfo) -> date | None:
        today = (info.context or {}).get("today")
        if end_date is not None and today is not None and end_date < today:
            raise PydanticCustomError(
                EXPIRED,
                "the experiment ended {days} day(s) ago (today is {today})",
                {
                    "days": (today - end_date).days,
                    "today": today.isoformat(),
                    "remedy": "Take it down with `pulumi destroy` (which does not ask for the date), "
                    "or set a later day.",
                },
            )
        return end_date
