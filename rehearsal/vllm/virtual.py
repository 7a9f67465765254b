"""The same loads on the stand-in's timing model in virtual time: whole campaigns in a second, the same each time."""

import random
import statistics

from rehearsal.engine.profile import PROFILES, Profile
from rehearsal.engine.simulation import Simulation
from rehearsal.vllm.modes import Load
from report.modes import CpuUse, LoadRun

ROLES = ("leader", "worker")
_START_S = 5.0
_PROMPT_TOKENS = 32


def simulate(profile: Profile, load: Load, seed: int, setting: str = "") -> LoadRun:
    """Run a load on a split of two stages; prompts, scatter of the starts and jitter follow from the seed."""
    dice = random.Random(seed)  # noqa: S311  reproducible on purpose; no secret
    engine = Simulation(profile, stages=2, seed=seed)
    stagger_s = load.stagger_ms / 1000
    streams = []
    for number in range(load.streams):
        # A real client's requests come with a little scatter of their own.
        at_s = _START_S + number * stagger_s + dice.uniform(0, 0.05 * stagger_s)
        prompt = [dice.randrange(1000, 31_000) for _ in range(_PROMPT_TOKENS)]
        streams.append(engine.send(prompt, load.tokens, at_s))
    engine.run()
    medians = [1000 * statistics.median(stream.gaps_s) for stream in streams]
    end_s = max(stream.at_s[-1] for stream in streams)
    quotas = dict(zip(ROLES, (stage.quota for stage in engine.core.pipeline.line), strict=True))
    return LoadRun(
        engine=f"stand-in, {profile.name}, in virtual time",
        simulated=True,
        machine="virtual",
        setting=setting,
        streams=load.streams,
        stagger_ms=load.stagger_ms,
        tokens=load.tokens,
        steps=len(engine.steps),
        gap_ms=1000 * statistics.median(gap for stream in streams for gap in stream.gaps_s),
        low_ms=min(medians),
        high_ms=max(medians),
        tokens_per_s=load.streams * load.tokens / (end_s - _START_S),
        pods={
            role: CpuUse(periods=quota.periods, throttled=quota.throttled)
            for role, quota in quotas.items()
            if quota is not None
        },
    )


def with_quota(loads: list[Load], cores: float | None) -> list[LoadRun]:
    """Return the runs of a split whose stages have a core and a thread each, with a quota of so many cores."""
    profile = PROFILES["trial-quota"]
    limited = profile.model_copy(update={"cpu_quota_s": None if cores is None else cores * profile.cpu_period_s})
    label = "no limit" if cores is None else f"limit {cores:g} CPU"
    return [simulate(limited, load, seed, label) for seed, load in enumerate(loads)]
