"""The LeaderWorkerSet controller: ours to install, or there already."""

from typing import Annotated, Literal

from pydantic import Field

from experiment import versions
from experiment.images import ImageReference
from experiment.strict import Strict


class InstallLws(Strict):
    """Install the controller for this experiment, and take it away with it."""

    mode: Literal["install"] = Field(description="install or existing")
    chart: str = Field(
        versions.LWS_CHART, min_length=1, description=f"OCI address or local directory of chart {versions.LWS_VERSION}"
    )
    image: ImageReference = Field(versions.LWS_IMAGE, description="the manager's image, pinned")


class ExistingLws(Strict):
    """Use the controller that the cluster has; it is neither changed nor removed."""

    mode: Literal["existing"] = Field(description="install or existing")


Lws = Annotated[InstallLws | ExistingLws, Field(discriminator="mode")]
