"""The Service through which clients reach the engine."""

from pydantic import Field

from experiment.strict import Strict


class Service(Strict):
    """One Service before all leaders; with replicas each keeps a prefix cache of its own."""

    sticky_s: int | None = Field(
        None,
        ge=1,
        le=86400,
        description="seconds for which a client that comes again gets the same pod, for example 10800; "
        "any pod if not given",
    )
