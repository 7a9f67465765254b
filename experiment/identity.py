"""Which experiment this is, whose, and until when."""

import re
from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import AwareDatetime, BeforeValidator, Field, StringConstraints, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from experiment.strict import Strict
from experiment.tags import Tags, filled

ExperimentName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", max_length=63)]
EXPIRED = "expired"
"""Type of the error that says that the end date has passed."""

_MOMENT = re.compile(r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2})?(Z|[+-]\d{2}:\d{2})", re.ASCII)
# YAML takes a moment without quotes for more than text, and Pulumi hands that over in words of its own language.
_IN_GO = re.compile(r"(\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}) ([+-]\d{2})(\d{2}) \S+", re.ASCII)
_EXAMPLE = 'Write day, time and time zone in quotes, as in "2026-12-31T18:00:00+01:00".'


def _moment(value: Any) -> Any:
    if isinstance(value, datetime):
        return value
    in_go = _IN_GO.fullmatch(value) if isinstance(value, str) else None
    text = f"{in_go[1]}{in_go[2]}:{in_go[3]}" if in_go else str(value)
    if not _MOMENT.fullmatch(text) or (in_go and text.endswith("00:00:00+00:00")):
        # The second is what becomes of a day without quotes: whether its morning or its evening is meant, nobody knows.
        raise PydanticCustomError("no_moment", "it is not a moment with a time zone", {"remedy": _EXAMPLE})
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise PydanticCustomError("no_moment", "there is no such day or time", {"remedy": _EXAMPLE}) from None


Moment = Annotated[AwareDatetime, BeforeValidator(_moment, json_schema_input_type=AwareDatetime)]
Line = Annotated[str, StringConstraints(pattern=r"^\S(.*\S)?$", max_length=200)]


class Identity(Strict):
    """The part of the settings that says what the experiment is for."""

    name: ExperimentName = Field(description="a name of lower-case letters, digits and hyphens, at most 63")
    owner: Line = Field(description="one line: the person or team to ask")
    purpose: Line = Field(description="one line: the question this experiment answers")
    end_date: Moment | None = Field(
        None,
        description="the moment at which it ends, with its time zone, as 2026-12-31T18:00:00+01:00; what costs money "
        "is not brought up without one",
    )
    tags: Tags = Field(
        default_factory=dict,
        description="tags that the organisation asks for, by its own keys; {name}, {owner}, {purpose} and {end_date} "
        "in a value are filled in",
    )

    @field_validator("end_date")
    @classmethod
    def _not_past(cls, end_date: datetime | None, info: ValidationInfo) -> datetime | None:
        now = (info.context or {}).get("now")
        if end_date is not None and now is not None and end_date <= now:
            raise PydanticCustomError(
                EXPIRED,
                "the experiment ended at {end} (now it is {now})",
                {
                    "end": _utc(end_date),
                    "now": _utc(now),
                    "remedy": "Take it down with `pulumi destroy` (which does not ask for the date), "
                    "or set a later moment.",
                },
            )
        return end_date

    def filled_tags(self) -> dict[str, str]:
        """Return the organisation's tags with their values filled in; one that names a missing end date is left out."""
        return filled(
            self.tags,
            {
                "name": self.name,
                "owner": self.owner,
                "purpose": self.purpose,
                "end_date": self.end_date.isoformat() if self.end_date else None,
            },
        )


def _utc(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")
