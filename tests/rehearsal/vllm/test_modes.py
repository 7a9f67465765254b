"""Loads on the stand-in in this process: what a run says is what its streams and steps were."""

import pytest

from rehearsal.vllm.modes import Load, Target, line, loads, run
from tests.rehearsal.engine.conftest import Start

TIMING = '{"step_s":0.01,"sequence_s":0,"prefill_token_s":0,"frontend_s":0,"schedule_s":0,"jitter":0,"end_of_text":0}'


def test_forty_loads_in_an_order_fixed_by_seed() -> None:
    assert len(loads(1)) == 40
    assert loads(1) == loads(1)
    assert loads(1) != loads(2)
    assert sorted(loads(1), key=str) == sorted(loads(2), key=str)


async def test_a_run_counts_steps_and_times_tokens(start: Start) -> None:
    running = await start("--served-model-name=tiny", "--api-key=k", SPLITBED_STANDIN_PARAMETERS=TIMING)
    target = Target("stand-in", True, "here", running.port, headers=(("Authorization", "Bearer k"),))
    found = await run(target, Load(3, 0, 10), "seed", "so")
    assert (found.engine, found.simulated, found.machine, found.setting) == ("stand-in", True, "here", "so")
    assert 10 <= found.steps <= 12, "three streams in one batch, but for their first tokens"
    assert found.low_ms is not None
    assert found.high_ms is not None
    assert 8 <= found.low_ms <= found.gap_ms <= found.high_ms
    assert found.tokens_per_s <= 3 * 10 / 0.1
    assert f"n=3 stagger=0ms median gap {found.gap_ms:.1f}" in line(found)


async def test_a_refused_load_says_why(start: Start) -> None:
    running = await start("--served-model-name=other", SPLITBED_STANDIN_PARAMETERS=TIMING)
    with pytest.raises(OSError, match=r"404.*does not exist"):
        await run(Target("stand-in", True, "here", running.port), Load(1, 0, 10), "seed")
