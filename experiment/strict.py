"""The base of every model that is read from text a person wrote."""

from pydantic import BaseModel, ConfigDict


class Strict(BaseModel):
    """Frozen, without type coercion; an unknown key is an error, since it is most often a misspelt one."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", allow_inf_nan=False)
