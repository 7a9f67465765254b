"""A split server's two modes arise in the stand-in as they do in vLLM."""

import asyncio
from pathlib import Path

import pytest

from rehearsal.engine.profile import PROFILES
from rehearsal.podengine import machine
from rehearsal.progress import Progress
from rehearsal.vllm.campaign import Journal, run_all
from rehearsal.vllm.environment import VERSION
from rehearsal.vllm.modes import Load, Target, line, loads, run
from report.modes import STAGGERS, LoadRun, share, slowdowns
from tests.vllm.conftest import Pair

pytestmark = pytest.mark.vllm
SEED = 1


def test_the_same_modes_in_similar_shares(split: Pair, records: Path, progress: Progress) -> None:
    """40 loads on each engine, of 2 to 8 streams, together and staggered."""
    progress.step("40 loads on each engine, about 6 min each")
    journal = Journal(records / "modes.jsonl")
    here = machine()[0]
    targets = (
        Target(f"vLLM {VERSION}", False, here, split.real.port, headers=split.headers),
        Target(f"stand-in, {PROFILES['trial-split'].name}", True, here, split.standin.port, headers=split.headers),
    )
    real, standin = (_runs(target, journal, progress) for target in targets)
    for runs in (real, standin):
        assert [line(one) for one in runs if one.mode is None] == []
        spread, spread_of = share(runs, STAGGERS["30 ms and more"])
        assert spread <= 0.2 * spread_of
        together, of = share(runs, STAGGERS["together"])
        assert 0.25 * of <= together <= 0.95 * of
        assert all(times > 1 for times in slowdowns(runs).values()), "merged is the slower mode"
    for label, most in (("together", 0.35), ("10 ms", 0.4), ("30 ms and more", 0.2)):
        (a, of), (b, _) = share(real, STAGGERS[label]), share(standin, STAGGERS[label])
        assert abs(a - b) <= most * of, f"started {label}: {a} and {b} of {of} stayed apart"


def _runs(target: Target, journal: Journal, progress: Progress) -> list[LoadRun]:
    async def make(load: Load, place: int) -> LoadRun:
        return await run(target, load, f"{SEED}/{place}")

    return asyncio.run(run_all(journal, loads(SEED), make, progress, engine=target.engine))
