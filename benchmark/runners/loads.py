"""Many users: closed loops by number and by time, arrivals at random, and a pod that is killed meanwhile."""

import asyncio
import random
from collections.abc import Callable, Coroutine, Iterator, Sequence
from typing import Any

from benchmark.prompt import PromptSource
from benchmark.stage import LEAD_S, Line, Outgoing, Stage, went_well
from experiment.kinds.base import Cell
from experiment.kinds.loads import Concurrency, Loss, OpenLoop, Soak, Victim
from experiment.kinds.profiles import ProfileName, Profiles
from experiment.measure.endurance import WINDOW_S

PAUSE_S = 0.5
"""Between two tries of a user whose request failed while a pod is away."""
_BEGIN_S = 0.05


async def lines_of(stage: Stage, users: int) -> list[Line]:
    """Return as many users, each with an open connection."""
    lines = [stage.line(user) for user in range(users)]
    await asyncio.gather(*(line.ready() for line in lines))
    return lines


async def concurrency(stage: Stage, test: Concurrency, cell: Cell, _number: int) -> None:
    """Let each user send one request after another; one whose request failed leaves."""
    source = stage.source(test.prompt_tokens, test.output_tokens)
    users = range(cell.streams)
    waiting = [[stage.outgoing(source) for _ in range(test.requests)] for _ in users]
    lines = await lines_of(stage, cell.streams)

    async def user(line: Line, requests: list[Outgoing]) -> None:
        for outgoing in requests:
            if not went_well(await line.send(outgoing)):
                return

    await together([user(line, requests) for line, requests in zip(lines, waiting, strict=True)])


async def open_loop(stage: Stage, test: OpenLoop, cell: Cell, number: int) -> None:
    """Send requests at the moments of a Poisson process."""
    source = stage.source(test.prompt_tokens, test.output_tokens)
    dice = _dice(stage, cell, number)
    await _arrive(stage, list(moments(dice, float(str(cell.value)), test.seconds)), lambda: source)


async def profiles(stage: Stage, test: Profiles, cell: Cell, number: int) -> None:
    """Send a mix of requests at the moments of a Poisson process."""
    profile, rate = _profile(test, cell)
    mix = test.mix_of(profile)
    sources = [stage.source(share.prompt_tokens, share.output_tokens) for share in mix]
    weights = [share.weight for share in mix]
    dice = _dice(stage, cell, number)
    arrivals = list(moments(dice, rate, test.seconds))
    await _arrive(stage, arrivals, lambda: dice.choices(sources, weights)[0])


async def soak(stage: Stage, test: Soak, _cell: Cell, _number: int) -> None:
    """Let each user ask again until the time is over; one whose request failed leaves."""
    source = stage.source(test.prompt_tokens, test.output_tokens)
    lines = await lines_of(stage, test.users)
    end_s = stage.clock() + test.seconds
    await together([_again(stage, line, source, end_s) for line in lines])


async def loss(stage: Stage, test: Loss, cell: Cell, _number: int) -> None:
    """Let users ask again and again, and kill a pod; failures are what is measured."""
    if stage.killer is None:
        raise RuntimeError("a loss test needs a killer; the session looks for one first")
    source = stage.source(test.prompt_tokens, test.output_tokens)
    lines = await lines_of(stage, test.users)
    begin_s = stage.clock()
    kill_s = begin_s + max(test.after_s, WINDOW_S)
    victim: Victim = next(name for name in test.victims if name == cell.value)

    async def kill() -> None:
        await stage.until(kill_s)
        if stage.killer is not None:
            stage.killed = await stage.killer.kill(victim)

    users = [_again(stage, line, source, kill_s + test.seconds, stay=True) for line in lines]
    await together([*users, kill()])


async def _again(stage: Stage, line: Line, source: PromptSource, end_s: float, *, stay: bool = False) -> None:
    outgoing = stage.outgoing(source)
    while stage.clock() < end_s:
        sending = asyncio.ensure_future(line.send(outgoing))
        await asyncio.sleep(0)
        outgoing = stage.outgoing(source)  # made while the one before is on its way
        if not went_well(await sending):
            if not stay:
                return
            line.close()  # what is behind a connection may be dead and still answer
            await asyncio.sleep(PAUSE_S)


async def _arrive(stage: Stage, arrivals: Sequence[float], pick: Callable[[], PromptSource]) -> None:
    requests = [stage.outgoing(pick()) for _ in arrivals]
    begin_s = stage.clock() + LEAD_S + _BEGIN_S

    async def arrive(user: int, outgoing: Outgoing, due_s: float) -> None:
        line = stage.line(user)
        try:
            await line.send(outgoing, due_s)
        finally:
            line.close()

    numbered = enumerate(zip(requests, arrivals, strict=True))
    await together([arrive(user, outgoing, begin_s + at_s) for user, (outgoing, at_s) in numbered])


async def together(users: Sequence[Coroutine[Any, Any, Any]]) -> None:
    """Run users until all are done; if one breaks, or all are stopped, none goes on."""
    async with asyncio.TaskGroup() as group:
        for user in users:
            group.create_task(user)


def moments(dice: random.Random, rate: float, seconds: float) -> Iterator[float]:
    """Yield the moments of a Poisson process, in seconds from its begin; the first one if none falls into the time."""
    at_s = first_s = dice.expovariate(rate)
    if first_s >= seconds:
        yield 0.0
    while at_s < seconds:
        yield at_s
        at_s += dice.expovariate(rate)


def _dice(stage: Stage, cell: Cell, number: int) -> random.Random:
    return random.Random(f"{stage.seed}/{cell.name}/{number}")  # noqa: S311  reproducible on purpose; no secret


def _profile(test: Profiles, cell: Cell) -> tuple[ProfileName, float]:
    name, _, rate = str(cell.value).rpartition(" ")
    return next(profile for profile in test.profiles if profile == name), float(rate)
