"""The engine in real time: hanging steps, death, and ends from outside."""

import asyncio
import itertools
import time
from collections.abc import AsyncIterator

import pytest

from rehearsal.engine.core import Core
from rehearsal.engine.driver import Delta, Engine
from rehearsal.engine.errors import ApiError
from rehearsal.engine.frontend import FrontEnd
from rehearsal.engine.kvcache import BlockPool
from rehearsal.engine.pipeline import Pipeline
from rehearsal.engine.profile import Profile
from rehearsal.engine.request import FinishReason, Sampling, Writer
from rehearsal.engine.scheduler import Limits, Scheduler
from rehearsal.engine.tokenizer import Tokenizer

QUICK = Profile(name="quick", step_s=0.0005, sequence_s=0, prefill_token_s=0, frontend_s=0, schedule_s=0)
TEN = Sampling(max_tokens=10, min_tokens=10, ignore_eos=True)


def engine(*, ranks: bool = False, step_timeout_s: float = 60, on_send: list[int] | None = None) -> Engine:
    scheduler = Scheduler(Limits(2048, 128, 4096), BlockPool(100), Writer(Tokenizer()))
    core = Core(scheduler, Pipeline(QUICK), confirmed={} if ranks else None)
    if on_send is not None:
        core.on_send = lambda number, _: on_send.append(number)
    return Engine(core, FrontEnd(QUICK), time.monotonic, step_timeout_s=step_timeout_s)


@pytest.fixture
async def running() -> AsyncIterator[Engine]:
    found = engine()
    found.start()
    yield found
    await found.halt()


async def collect(found: Engine, name: str, sampling: Sampling = TEN) -> list[Delta]:
    return [delta async for delta in found.generate(name, [300, 301], sampling)]


async def test_tokens_come_one_by_one_with_the_engines_own_time(running: Engine) -> None:
    deltas = await collect(running, "a")
    assert [len(delta.tokens) for delta in deltas] == [1] * 10
    assert [delta.finish for delta in deltas] == [None] * 9 + [FinishReason.LENGTH]
    times = [delta.at_s for delta in deltas]
    # On the engine's clock the steps are as long as they should be, however late this process woke up.
    assert [b - a for a, b in itertools.pairwise(times)] == pytest.approx([0.0005] * 9)


async def test_abort_all_ends_streams_and_closing_lets_none_in(running: Engine) -> None:
    endless = Sampling(max_tokens=100_000, min_tokens=100_000, ignore_eos=True)
    task = asyncio.create_task(collect(running, "a", endless))
    await asyncio.sleep(0.02)
    running.closing = True
    running.abort_all()
    assert (await asyncio.wait_for(task, 10))[-1].finish is FinishReason.ABORT
    assert [delta.finish for delta in await collect(running, "b")] == [FinishReason.ABORT]
    await asyncio.wait_for(running.drained(), 10)


async def test_a_step_that_no_rank_answers_hangs_and_then_kills_the_engine() -> None:
    sent: list[int] = []
    found = engine(ranks=True, step_timeout_s=0.2, on_send=sent)
    driving = found.start()
    task = asyncio.create_task(collect(found, "a"))
    await asyncio.sleep(0.05)
    assert sent == [1]
    # This is how a lost worker looks for five minutes: healthy, and nothing comes.
    assert (found.dead, task.done()) == (False, False)
    with pytest.raises(ApiError, match="EngineCore encountered an issue"):
        await asyncio.wait_for(task, 10)
    await asyncio.wait_for(driving, 10)
    assert found.dead
    with pytest.raises(ApiError, match="EngineCore encountered an issue"):
        await collect(found, "b")


async def test_steps_go_on_as_the_ranks_confirm_them() -> None:
    found = engine(ranks=True)

    def confirm_soon(number: int, _: object) -> None:
        asyncio.get_running_loop().call_soon(found.confirm, number)

    found.core.on_send = confirm_soon
    found.start()
    assert len(await asyncio.wait_for(collect(found, "a"), 10)) == 10
    await found.halt()
