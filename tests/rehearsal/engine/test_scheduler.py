"""Who gets how many tokens: budget, chunks, places, waiting and preemption."""

from collections.abc import Callable

import pytest

from rehearsal.engine.profile import PROFILES
from rehearsal.engine.simulation import Simulation

Prompt = Callable[..., list[int]]
SINGLE = PROFILES["post-1b-single"]


def test_a_long_prompt_is_read_in_chunks_between_decodes(prompt: Prompt) -> None:
    run = Simulation(SINGLE, max_num_batched_tokens=512)
    reader = run.send(prompt(20, 1), 60, 0.0)
    run.send(prompt(2000, 2), 2, 1.0)
    run.run()
    # 2000 tokens at 511 a step beside the reader's one: four steps, in each of which the reader gets a token.
    assert sum(gap > 0.3 for gap in reader.gaps_s) == 4
    assert max(reader.gaps_s) == pytest.approx(0.0474 + 0.05 + 511 * 0.00158, rel=0.1)


def test_prompts_share_a_step_up_to_the_budget(prompt: Prompt) -> None:
    run = Simulation(SINGLE, max_num_batched_tokens=300)
    for user in range(3):
        run.send(prompt(200, user), 4, 0.0)
    run.run()
    assert all(sum(chunk.tokens for chunk in step.chunks) <= 300 for step in run.steps)


def test_requests_wait_for_blocks_and_come_in_order(prompt: Prompt) -> None:
    run = Simulation(SINGLE, blocks=4)
    streams = [run.send(prompt(250, user), 4, 0.001 * user) for user in range(4)]
    run.run()
    firsts = [stream.at_s[0] for stream in streams]
    assert firsts == sorted(firsts)
    # Two fit at a time.
    assert streams[2].at_s[0] > streams[0].at_s[-1]
    assert run.core.scheduler.counters.preemptions == 0


def test_the_youngest_is_preempted_and_still_gets_all_its_tokens(prompt: Prompt) -> None:
    run = Simulation(SINGLE, blocks=4)
    old = run.send(prompt(200, 1), 150, 0.0)
    young = run.send(prompt(200, 2), 150, 0.001)
    run.run()
    assert run.core.scheduler.counters.preemptions >= 1
    assert (old.request.preemptions, young.request.preemptions >= 1) == (0, True)
    assert len(old.at_s) == len(young.at_s) == 150
    assert max(young.gaps_s) > 1
    assert run.core.scheduler.pool.used == 0


@pytest.mark.parametrize("stages", [1, 2, 3])
def test_preemption_with_steps_in_flight(stages: int, prompt: Prompt) -> None:
    run = Simulation(PROFILES["trial-split"], stages=stages, blocks=5, max_num_batched_tokens=256)
    streams = [run.send(prompt(100, user), 120, 0.003 * user) for user in range(5)]
    run.run()
    assert [len(stream.at_s) for stream in streams] == [120] * 5
    assert run.core.scheduler.pool.used == 0


def test_the_same_seed_gives_the_same_run(prompt: Prompt) -> None:
    def times(seed: int) -> list[float]:
        run = Simulation(PROFILES["trial-split"], stages=2, seed=seed)
        streams = [run.send(prompt(24, user), 30, 0.0) for user in range(4)]
        run.run()
        return [at for stream in streams for at in stream.at_s]

    assert times(1) == times(1)
    assert times(1) != times(2)
