"""Where the logs of the experiment's pods go, and for how long they are kept."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from experiment import versions
from experiment.images import ImageReference
from experiment.strict import Strict

RETENTIONS = (
    1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653,
)  # fmt: skip
"""Days that CloudWatch Logs knows (API reference of PutRetentionPolicy)."""


def _known(days: int) -> int:
    if days not in RETENTIONS:
        raise PydanticCustomError(
            "retention",
            "CloudWatch keeps no logs for just so many days",
            {"remedy": f"Take one of {', '.join(map(str, RETENTIONS))}."},
        )
    return days


RetentionDays = Annotated[int, AfterValidator(_known)]


class Logs(Strict):
    """A group that is made anew takes the logs of its pods with it, unless they were shipped elsewhere."""

    kind: Literal["none", "cloudwatch", "files"] = Field(
        "none", description="none, cloudwatch (EKS only) or files (a directory of each node)"
    )
    retention_days: RetentionDays = Field(30, description="days for which CloudWatch keeps them")
    image: ImageReference = Field(versions.COLLECTOR_IMAGE, description="the OpenTelemetry Collector's image, pinned")
