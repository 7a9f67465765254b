"""How often and how long Kubernetes asks an engine pod whether it is alive."""

import math

from pydantic import Field

from experiment.strict import Strict


class Probes(Strict):
    """One scale for all probes; the defaults are those of the posts.

    A saturated server answers late: a short time-out would take it out of its Service in the middle of a measurement.
    """

    startup_s: float = Field(900, gt=0, le=86400, description="seconds a pod may take to load and join")
    period_s: int = Field(10, ge=1, le=3600, description="seconds from one probe to the next")
    timeout_s: int = Field(15, ge=1, le=3600, description="seconds one probe may take")
    failures: int = Field(10, ge=1, le=1000, description="failed probes in a row before it counts")

    @property
    def startup_failures(self) -> int:
        """Failed probes in a row that make up `startup_s`."""
        return math.ceil(self.startup_s / self.period_s)
