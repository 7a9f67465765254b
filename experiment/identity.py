"""Which experiment this is, whose, and until when."""

from datetime import date
from typing import Annotated

from pydantic import Field, StringConstraints, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from experiment.strict import Strict

ExperimentName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", max_length=63)]
Line = Annotated[str, StringConstraints(pattern=r"^\S(.*\S)?$", max_length=200)]


class Identity(Strict):
    """The part of the settings that says what the experiment is for."""

    name: ExperimentName = Field(description="a name of lower-case letters, digits and hyphens, at most 63")
    owner: Line = Field(description="one line: the person or team to ask")
    purpose: Line = Field(description="one line: the question this experiment answers")
    end_date: date | None = Field(
        None, description='the last day on which it may run, in quotes: "2026-12-31"; none if it costs nothing'
    )

    @field_validator("end_date")
    @classmethod
    def _not_past(cls, end_date: date | None, info: ValidationInfo) -> date | None:
        today = (info.context or {}).get("today")
        if end_date is not None and today is not None and end_date < today:
            raise PydanticCustomError(
                "expired",
                "the experiment ended {days} day(s) ago (today is {today})",
                {
                    "days": (today - end_date).days,
                    "today": today.isoformat(),
                    "remedy": "Take it down with `pulumi destroy` (which does not ask for the date), "
                    "or set a later day.",
                },
            )
        return end_date
