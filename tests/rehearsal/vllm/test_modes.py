"""Loads on the stand-in, on a virtual clock: what a run says is what its streams and steps were."""

from pathlib import Path

import pytest

from rehearsal.vllm.modes import Load, Target, line, loads, run
from tests.benchmark.lab import Lab, in_lab

TIMING = {
    "step_s": 0.01, "sequence_s": 0, "prefill_token_s": 0, "frontend_s": 0, "schedule_s": 0, "hop_s": 0,
}  # fmt: skip


def test_forty_loads_in_an_order_fixed_by_seed() -> None:
    assert len(loads(1)) == 40
    assert loads(1) == loads(1)
    assert loads(1) != loads(2)
    assert sorted(loads(1), key=str) == sorted(loads(2), key=str)


def test_a_run_counts_steps_and_times_tokens(tmp_path: Path) -> None:
    async def main(lab: Lab) -> None:
        lab.serve("standin", await lab.engine("fast", "--served-model-name=tiny", "--api-key=k", **TIMING))
        headers = (("Authorization", "Bearer k"),)
        target = Target("stand-in", True, "here", 8000, host="standin", headers=headers)
        found = await run(target, Load(3, 0, 10), "seed", "so")
        assert (found.engine, found.simulated, found.machine, found.setting) == ("stand-in", True, "here", "so")
        assert found.steps == 11, "the first stream begins a step before the others, and then they are one batch"
        assert (found.low_ms, found.gap_ms, found.high_ms) == (10.0, 10.0, 10.0)
        assert found.tokens_per_s == pytest.approx(3 * 10 / 0.11, abs=0.01)
        assert f"n=3 stagger=0ms median gap {found.gap_ms:.1f}" in line(found)

    in_lab(tmp_path, main)


def test_a_refused_load_says_why(tmp_path: Path) -> None:
    async def main(lab: Lab) -> None:
        lab.serve("standin", await lab.engine("fast", "--served-model-name=other", **TIMING))
        with pytest.raises(OSError, match=r"404.*does not exist"):
            await run(Target("stand-in", True, "here", 8000, host="standin"), Load(1, 0, 10), "seed")

    in_lab(tmp_path, main)
