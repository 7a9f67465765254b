"""The base of every part of a plan."""

from pydantic import BaseModel, ConfigDict


class Part(BaseModel):
    """Frozen, and closed: what a plan's JSON holds is what its schema says."""

    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_inf_nan="null")
