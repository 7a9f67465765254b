"""Time of tokens and prompts on CPU nodes, to first order."""

from dataclasses import dataclass

from experiment.catalogue.models import Geometry
from experiment.expectation.expectation import Expectation
from experiment.expectation.parameters import (
    BANDWIDTH,
    HOP,
    MORE_USERS,
    PREFILL,
    PREFILL_PARAMETERS,
    PROMPT_TRAFFIC,
    SOFTWARE,
    TOKEN_TRAFFIC,
    TRAFFIC_HIDDEN_SIZE,
)
from experiment.kv.cache import GIB

_MEASURED_STAGES = 2


@dataclass(frozen=True, kw_only=True)
class CpuSpeed:
    """Speed of one copy of a model on nodes like those of the posts.

    Attributes:
        memory_ms: what reading the weights for one token takes, all stages after each other.
        software_ms: what the engine takes for one token beside that; the longer of the two counts.
        hops_ms: what the network between stages adds.
        token_ms: time between two tokens of one user.
        limited_by: `memory` or `software`, whichever is longer.
        prefill_tokens_s: prompt tokens read in a second.
        extrapolates: whether it is for something unlike what was measured, and why; empty if not.
    """

    memory_ms: float
    software_ms: float
    hops_ms: float
    token_ms: float
    limited_by: str
    prefill_tokens_s: float
    extrapolates: str

    @property
    def tokens_s(self) -> float:
        """Tokens of one user in a second."""
        return 1000 / self.token_ms

    def first_token_s(self, prompt_tokens: int) -> float:
        """Return the seconds until the first token of a prompt that nobody sent before."""
        return prompt_tokens / self.prefill_tokens_s + self.token_ms / 1000

    def users_tokens_s(self, users: int, copies: int = 1) -> float:
        """Return the tokens of all users in a second, who spread evenly over the copies.

        One more user of a copy makes its step longer, as of one pod with the 1B. A split has two modes, and this is the
        fast one at best.
        """
        each = users / copies
        return 1000 * users / (self.token_ms + MORE_USERS.value * max(0.0, each - 1))


def speed(geometry: Geometry, *, dtype: str = "bfloat16", pipeline: int = 1, like_the_posts: bool = True) -> CpuSpeed:
    """Return the speed to expect of one copy.

    A token reads the weights once, or those of the experts that are awake, one stage after the other: splitting makes
    neither part shorter, and adds hops. The engine's own work hides behind the reading or the reading behind it, so the
    longer counts. A prompt is computed, in proportion to the parameters.

    Args:
        geometry: the model.
        dtype: of the weights, as of `Geometry.weights_gib`.
        pipeline: number of stages, each on a node of its own.
        like_the_posts: whether the nodes are m7g.2xlarge with 6 cores a pod.

    Raises:
        SplitbedError: nothing is known of the dtype.
    """
    awake = geometry.active_parameters or geometry.parameters
    gigabytes = geometry.weights_gib(dtype) * GIB / 1e9 * awake / geometry.parameters
    memory = gigabytes / BANDWIDTH.value * 1000
    hops = HOP.value * pipeline if pipeline > 1 else 0.0
    return CpuSpeed(
        memory_ms=memory,
        software_ms=SOFTWARE.value,
        hops_ms=hops,
        token_ms=max(memory, SOFTWARE.value) + hops,
        limited_by="memory" if memory > SOFTWARE.value else "software",
        prefill_tokens_s=PREFILL.value * PREFILL_PARAMETERS / awake,
        extrapolates=_why(geometry, dtype, pipeline, like_the_posts=like_the_posts),
    )


def traffic_kb(geometry: Geometry, *, pipeline: int, prompt_tokens: int, tokens: int) -> float:
    """Return the KB that the stages of a pipeline send each other for one request.

    As measured over one boundary of two stages; in proportion to the width of the model and to the boundaries.
    """
    width = geometry.hidden_size / TRAFFIC_HIDDEN_SIZE
    return (PROMPT_TRAFFIC.value * prompt_tokens + TOKEN_TRAFFIC.value * tokens) * width * max(0, pipeline - 1)


def expectations(
    geometry: Geometry,
    *,
    dtype: str = "bfloat16",
    pipeline: int = 1,
    copies: int = 1,
    prompt_tokens: int = 3500,
    users: int = 8,
    like_the_posts: bool = True,
) -> tuple[Expectation, ...]:
    """Return what to expect of a topology whose measurements nobody has; arguments as of `speed`.

    Args:
        geometry: the model.
        dtype: of the weights.
        pipeline: number of stages.
        copies: copies of the model.
        prompt_tokens: length of the prompt whose first token is foretold.
        users: how many write at once, for the throughput of all.
        like_the_posts: whether the nodes are m7g.2xlarge with 6 cores a pod.
    """
    one = speed(geometry, dtype=dtype, pipeline=pipeline, like_the_posts=like_the_posts)
    beyond = bool(one.extrapolates)
    why = f"; extrapolates: {one.extrapolates}" if beyond else ""
    limit = BANDWIDTH if one.limited_by == "memory" else SOFTWARE
    hops = f"; {HOP.name}: {HOP.source}" if pipeline > 1 else ""
    return (
        Expectation(
            metric="time between tokens, one user",
            unit="ms",
            predicted=one.token_ms,
            measured=None,
            source=f"{limit.name}: {limit.source}{hops}{why}",
            extrapolates=beyond,
        ),
        Expectation(
            metric=f"first token of a prompt of {prompt_tokens} tokens",
            unit="s",
            predicted=one.first_token_s(prompt_tokens),
            measured=None,
            source=f"{PREFILL.name}: {PREFILL.source}{why}",
            extrapolates=beyond or geometry.parameters != PREFILL_PARAMETERS,
        ),
        Expectation(
            metric=f"tokens of {users} users together",
            unit="tokens/s",
            predicted=one.users_tokens_s(users, copies),
            measured=None,
            source=f"{MORE_USERS.name}: {MORE_USERS.source}{why}",
            extrapolates=beyond or copies > 1 or geometry.parameters != PREFILL_PARAMETERS,
        ),
    )


def _why(geometry: Geometry, dtype: str, pipeline: int, *, like_the_posts: bool) -> str:
    reasons = []
    if not like_the_posts:
        reasons.append("other nodes than m7g.2xlarge with 6 cores a pod")
    if dtype != "bfloat16":
        reasons.append(f"weights in {dtype}")
    if pipeline > _MEASURED_STAGES:
        reasons.append(f"{pipeline} stages")
    if geometry.active_parameters:
        reasons.append("experts that sleep")
    if not _SMALLEST <= geometry.parameters <= _LARGEST:
        reasons.append(f"a model of {geometry.parameters / 1e9:.1f} billion parameters")
    return ", ".join(reasons)


_SMALLEST, _LARGEST = PREFILL_PARAMETERS, 12_000_000_000
"""Parameters of the models that were measured."""
