"""The LeaderWorkerSet controller: ours to install, or there already."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from experiment import versions
from experiment.identity import ExperimentName
from experiment.images import ImageReference
from experiment.strict import Strict

RestartPolicy = Literal["RecreateGroupAfterStart", "RecreateGroupOnPodRestart", "None"]
"""Of LeaderWorkerSet 0.9.0 (`api/leaderworkerset/v1`), without Default, which is an old name of None."""

_VERSION = Annotated[str, StringConstraints(pattern=r"^\d+\.\d+\.\d+$")]
_SINCE: dict[str, tuple[int, ...]] = {"RecreateGroupAfterStart": (0, 9, 0)}
_RestartPolicy = Annotated[
    RestartPolicy,
    Field(
        description="what becomes of a group when a container ends: RecreateGroupAfterStart (all its pods anew, once "
        "they had started), RecreateGroupOnPodRestart (also before) or None (that container alone, to read its log)",
    ),
]


class InstallLws(Strict):
    """Install the controller for this experiment, and take it away with it."""

    mode: Literal["install"] = Field(description="install or existing")
    chart: str = Field(
        versions.LWS_CHART, min_length=1, description=f"OCI address or local directory of chart {versions.LWS_VERSION}"
    )
    image: ImageReference = Field(versions.LWS_IMAGE, description="the manager's image, pinned")
    restart_policy: _RestartPolicy = "RecreateGroupAfterStart"

    @property
    def version(self) -> str:
        """Version of the chart and of what it installs."""
        return versions.LWS_VERSION


class ExistingLws(Strict):
    """Use the controller that the cluster has; it is neither changed nor removed."""

    mode: Literal["existing"] = Field(description="install or existing")
    version: _VERSION = Field(versions.LWS_VERSION, description="version of the controller that is there")
    of: ExperimentName | None = Field(
        None,
        description="the experiment whose stack installed it, if one of ours did: its destroy is then held up until "
        "this stack is gone",
    )
    restart_policy: _RestartPolicy = "RecreateGroupAfterStart"


Lws = Annotated[InstallLws | ExistingLws, Field(discriminator="mode")]


def knows(version: str, policy: RestartPolicy) -> bool:
    """Return whether a version of the controller knows a restart policy."""
    return tuple(map(int, version.split("."))) >= _SINCE.get(policy, ())
