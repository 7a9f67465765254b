"""Workloads like those of the GPU post, with an objective, and the rate up to which it is kept."""

from typing import Annotated, Literal

from pydantic import Field

from experiment.kinds.base import KIND, Cell, Kind, Name, Rates, Work, apart, label
from experiment.kinds.loads import expected
from experiment.strict import Strict

ProfileName = Literal["chat", "code", "long-document", "batch"]


class Objective(Strict):
    """What a request must keep to count as good; errors never do."""

    ttft_s: float | None = Field(2.0, gt=0, description="longest time to the first token in seconds")
    tpot_s: float | None = Field(0.2, gt=0, description="longest time per token after it in seconds, on average")
    longest_gap_s: float | None = Field(1.0, gt=0, description="longest gap between two chunks in seconds")
    share: float = Field(0.95, gt=0, le=1, description="share of all requests that must be good")


class Share(Strict):
    """One kind of request in a mix."""

    prompt_tokens: int = Field(ge=1, description="length of the prompt in tokens, nonce included")
    output_tokens: int = Field(ge=2, description="length of the reply in tokens, fixed, at least 2")
    weight: float = Field(1, gt=0, description="how often it comes, in proportion to the others")


MIXES: dict[ProfileName, tuple[Share, ...]] = {
    "chat": (
        Share(prompt_tokens=128, output_tokens=128, weight=3),
        Share(prompt_tokens=512, output_tokens=192, weight=2),
        Share(prompt_tokens=1024, output_tokens=256, weight=1),
    ),
    "code": (
        Share(prompt_tokens=1024, output_tokens=64, weight=2),
        Share(prompt_tokens=2048, output_tokens=256, weight=1),
    ),
    "long-document": (Share(prompt_tokens=3072, output_tokens=128, weight=1),),
    "batch": (Share(prompt_tokens=256, output_tokens=512, weight=1),),
}
"""Our own assumptions: the post names such workloads, and no lengths."""


class Profiles(Kind):
    """Mixes of requests that arrive at random, at several rates: the share that keeps the objective at each."""

    kind: Annotated[Literal["profiles"], KIND]
    name: Name = "profiles"
    profiles: Annotated[tuple[ProfileName, ...], apart] = Field(
        ("chat", "code", "long-document", "batch"), description="chat, code, long-document, batch"
    )
    mix: tuple[Share, ...] | None = Field(None, description="own lengths instead of those of the profiles")
    objective: Objective = Field(default_factory=Objective, description="what a good request keeps")
    rates: Rates = Field((0.05, 0.1, 0.2, 0.4), description="requests a second, on average")
    seconds: float = Field(120, gt=0, description="seconds during which requests arrive; all are waited for")
    repeats: int = Field(1, ge=1, description="how often each rate is measured, each time at other moments")

    def mix_of(self, profile: ProfileName) -> tuple[Share, ...]:
        """Return the kinds of requests of a profile."""
        return self.mix or MIXES[profile]

    @property
    def cells(self) -> tuple[Cell, ...]:
        """See `Kind`."""
        return tuple(
            Cell(
                label(label(self.name, profile), rate),
                f"{profile} {rate:g}",
                self.repeats,
                _work(self.mix_of(profile), expected(rate, self.seconds)),
                streams=min(64, expected(rate, self.seconds)),
                lasts_s=self.seconds,
            )
            for profile in self.profiles
            for rate in self.rates
        )


def _work(mix: tuple[Share, ...], requests: int) -> tuple[Work, ...]:
    whole = sum(share.weight for share in mix)
    return tuple(
        Work(max(1, round(requests * share.weight / whole)), share.prompt_tokens, share.output_tokens) for share in mix
    )
