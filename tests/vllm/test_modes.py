"""A split server's two modes arise in the stand-in as they do in vLLM."""

import asyncio
from collections.abc import Sequence

import pytest

from rehearsal.progress import Progress
from rehearsal.vllm.modes import Run, loads, run, share
from rehearsal.vllm.server import Server
from tests.vllm.conftest import Pair

pytestmark = pytest.mark.vllm
SEED = 1
TOGETHER, NEARLY, SPREAD = range(1), range(1, 30), range(30, 1000)


async def _runs(server: Server, headers: Sequence[tuple[str, str]], progress: Progress) -> list[Run]:
    found = []
    for number, load in enumerate(loads(SEED)):
        found.append(await run(server.port, load, f"{SEED}/{number}", headers))
        progress.note(f"{server.name} {number + 1}/40: {found[-1].line()}")
    return found


def test_the_same_modes_in_similar_shares(split: Pair, progress: Progress) -> None:
    progress.step("40 loads on each engine, about 6 min each")
    real = asyncio.run(_runs(split.real, split.headers, progress))
    standin = asyncio.run(_runs(split.standin, split.headers, progress))
    for runs in (real, standin):
        assert [one.line() for one in runs if one.mode is None] == []
        spread, spread_of = share(runs, SPREAD)
        assert spread <= 0.2 * spread_of
        together, of = share(runs, TOGETHER)
        assert 0.25 * of <= together <= 0.95 * of
    for staggers, least in ((TOGETHER, 0.35), (NEARLY, 0.4), (SPREAD, 0.2)):
        (a, of), (b, _) = share(real, staggers), share(standin, staggers)
        assert abs(a - b) <= least * of, f"stagger in {staggers}: {a} and {b} of {of} stayed apart"
