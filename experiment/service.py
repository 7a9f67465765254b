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
    measure_sticky: bool = Field(
        True,
        description="true or false: the benchmark, which has one address, asks through the sticky Service too and gets "
        "one copy; false: through a second Service that is not sticky",
    )

    @property
    def measured_apart(self) -> bool:
        """Whether the benchmark has a Service of its own."""
        return self.sticky_s is not None and not self.measure_sticky
