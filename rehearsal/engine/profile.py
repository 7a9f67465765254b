"""The named parameters that all timing of the stand-in comes from.

`fast` is ten times faster than the posts' 1B model, for rehearsals. `post-1b-single` and `post-1b-split` are fitted
to the figures of the 1B post; `trial-split` and `trial-quota` to recorded runs of a real split server with a tiny model
(`tests/data/vllm/split-modes.txt` and `split-quota.txt`, two series in which that machine was differently fast). The
tests of this package name each figure that a profile must reproduce.
"""

import json
from collections.abc import Mapping
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

PROFILE_VARIABLE = "SPLITBED_STANDIN_PROFILE"
PARAMETERS_VARIABLE = "SPLITBED_STANDIN_PARAMETERS"
SEED_VARIABLE = "SPLITBED_STANDIN_SEED"

Seconds = Annotated[float, Field(ge=0)]


class ProfileError(ValueError):
    """The environment names a profile or a parameter that does not exist."""


class Profile(BaseModel):
    """Parameters of the timing model. Times are in seconds and, where not said otherwise, of the whole model."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    # Start-up, one after the other.
    download_s: Seconds = 0.2
    load_s: Seconds = 0.3
    warm_s: Seconds = 0.3
    # API server: one request after the other, per request and per prompt token.
    frontend_s: Seconds = 0.0008
    frontend_token_s: Seconds = 0.0
    frontend_spread: float = Field(default=0.5, ge=0, lt=1, description="share by which frontend_s varies")
    # Engine loop: from taking the input queue to the next look at it.
    schedule_s: Seconds = 0.001
    # One step of the whole model: weights read once, each decoding sequence, each prefilled token.
    step_s: Seconds = 0.0474
    sequence_s: Seconds = 0.0025
    prefill_token_s: Seconds = 0.00158
    prefill_context_s: Seconds = Field(default=0.0, description="per prefilled token and 1000 tokens before it")
    prefill_batch_s: Seconds = Field(default=0.0, description="once in a step that prefills anything")
    # Between two stages, and from the last one back to the engine. Only with more than one stage.
    hop_s: Seconds = 0.0
    # A stage that has waited longer than wake_after_s has gone to sleep, and takes wake_s more for its next step.
    wake_s: Seconds = 0.0
    wake_after_s: Seconds = 0.005
    jitter: float = Field(default=0.0, ge=0, lt=0.5, description="relative spread of a stage's time, by seed")
    tensor_efficiency: float = Field(default=0.8, gt=0, le=1, description="gain of each further tensor rank")
    # CPU quota of each stage's cgroup; None is none.
    cpu_quota_s: float | None = Field(default=None, gt=0, description="CPU seconds a period")
    cpu_period_s: float = Field(default=0.1, gt=0)
    compute_cores: float = Field(default=1.0, gt=0, description="cores in use while a stage computes")
    leader_spin_cores: float = Field(default=0.0, ge=0, description="cores in use while the leader waits")
    worker_spin_cores: float = Field(default=0.0, ge=0, description="cores in use while a worker waits")
    engine_cpu_s: Seconds = Field(default=0.0, description="CPU time of the leader's loop and API server, per step")
    # Memory of a rank's pod for the engine to see, None for enough, and what the weights take of it once loaded.
    memory_gib: float | None = Field(default=None, gt=0)
    weights_gib: float = Field(default=2.0, ge=0)
    # What travels between the ranks' pods.
    prompt_token_bytes: int = Field(default=4608, ge=0)
    generated_token_bytes: int = Field(default=10240, ge=0)
    # The model's own inclination to stop, a probability per token.
    end_of_text: float = Field(default=0.002, ge=0, le=1)

    def step_share_s(self, *, stages: int, tensor: int) -> float:
        """Return the factor from a whole model's time to one stage's."""
        return 1 / stages / (1 + (tensor - 1) * self.tensor_efficiency)


PROFILES: Mapping[str, Profile] = {
    profile.name: profile
    for profile in (
        Profile(
            name="fast",
            frontend_s=0.00008,
            schedule_s=0.0001,
            step_s=0.00474,
            sequence_s=0.00025,
            prefill_token_s=0.000158,
            hop_s=0.0005,
            jitter=0.01,
        ),
        Profile(
            name="post-1b-single",
            download_s=20,
            load_s=25,
            warm_s=30,
            step_s=0.0449,
            sequence_s=0.0025,
            frontend_token_s=0.000017,
            prefill_token_s=0.00156,
            prefill_context_s=0.00006,
            prefill_batch_s=0.05,
            end_of_text=0,
        ),
        Profile(
            name="post-1b-split",
            download_s=20,
            load_s=25,
            warm_s=55,
            step_s=0.0449,
            sequence_s=0.0025,
            frontend_token_s=0.000017,
            prefill_token_s=0.00146,
            prefill_context_s=0.00006,
            prefill_batch_s=0.05,
            hop_s=0.005,
            end_of_text=0,
        ),
        Profile(
            name="trial-split",
            download_s=0,
            load_s=50,
            warm_s=50,
            schedule_s=0.0009,
            step_s=0.064,
            sequence_s=0.0022,
            prefill_token_s=0.0001,
            hop_s=0.0005,
            wake_s=0.01,
            wake_after_s=0.015,
            jitter=0.02,
            end_of_text=0,
        ),
        Profile(
            name="trial-quota",
            download_s=0,
            load_s=50,
            warm_s=50,
            schedule_s=0.0009,
            step_s=0.06,
            sequence_s=0.0006,
            prefill_token_s=0.0001,
            hop_s=0.0005,
            wake_s=0.002,
            wake_after_s=0.015,
            jitter=0.02,
            leader_spin_cores=1,
            worker_spin_cores=0.1,
            engine_cpu_s=0.004,
            end_of_text=0,
        ),
    )
}


def from_environment(environ: Mapping[str, str]) -> Profile:
    """Return the profile that the environment asks for, with single parameters replaced.

    Raises:
        ProfileError: The profile or a parameter is unknown or has a value that is out of range.
    """
    name = environ.get(PROFILE_VARIABLE, "fast")
    if name not in PROFILES:
        raise ProfileError(f"{PROFILE_VARIABLE}={name!r} is not one of {', '.join(PROFILES)}.")
    profile = PROFILES[name]
    text = environ.get(PARAMETERS_VARIABLE)
    if text is None:
        return profile
    try:
        return Profile.model_validate(profile.model_dump() | json.loads(text))
    except (ValidationError, ValueError, TypeError) as e:
        raise ProfileError(f"{PARAMETERS_VARIABLE} is not a JSON object of parameters: {e}") from e
