"""What users do to each other, what a turn does for the next, and how equal streams begin."""

import asyncio
import random

from benchmark.completion import token_ids
from benchmark.runners.loads import lines_of, together
from benchmark.stage import LEAD_S, Line, Outgoing, Sent, Stage
from experiment.kinds.base import Cell
from experiment.kinds.sharing import FollowUp, Interference, Modes
from experiment.measure.counters import HITS, PROMPT_TOKENS, QUERIES
from experiment.measure.request import Prefix

_BEGIN_S = 0.05
_LOOK_S = 0.01


async def interference(stage: Stage, test: Interference, cell: Cell, _number: int) -> None:
    """Stream, and send a long prompt into it."""
    stream = stage.outgoing(stage.source(test.stream_prompt_tokens, test.stream_tokens))
    long = stage.outgoing(stage.source(int(str(cell.value)), test.output_tokens), "long-prompt")
    before = await stage.scraper.now((PROMPT_TOKENS,))
    user, other = stage.line(0), stage.line(1)
    await user.ready()
    begin_s = stage.clock() + _BEGIN_S
    due_s = begin_s + test.after_s

    async def into() -> None:
        await other.send(long, None if await _half_over(stage, user, test, due_s) else due_s)

    await together([user.send(stream, begin_s), into()])
    attribute(stage, stage.sent, before, await stage.scraper.now((PROMPT_TOKENS,)))


async def _half_over(stage: Stage, user: Line, test: Interference, due_s: float) -> bool:
    """Wait until the long prompt is nearly due; true if half of the stream came before, as a fast engine sends it."""
    while (left_s := due_s - LEAD_S - stage.clock()) > 0:
        if 2 * user.arrived >= test.stream_tokens:
            return True
        await asyncio.sleep(min(left_s, _LOOK_S))
    return False


async def follow_up(stage: Stage, test: FollowUp, cell: Cell, number: int) -> None:
    """Have two turns of a conversation, and an unlike prompt of the second one's length before or after them."""
    dice = random.Random(f"{stage.seed}/{cell.name}/{number}")  # noqa: S311  reproducible on purpose; no secret
    endpoint = stage.replicas[number % len(stage.replicas)] if cell.value == "replica" else stage.endpoint
    line, other = stage.line(0, endpoint), stage.line(1, endpoint)
    first = stage.source(test.history_tokens, test.reply_tokens)
    second = stage.source(test.second_tokens, test.output_tokens)
    control = stage.outgoing(second, "control")
    control_first = dice.random() < 0.5
    if control_first:
        await _alone(stage, other, control)
    history = first.draw()
    answer = await _alone(stage, line, stage.of_tokens(history, first.shape, "first-turn", ids=True))
    if answer.exchange is not None and answer.exchange.error is None:
        said = history + token_ids(answer.exchange)[: test.reply_tokens]
        # The question, and what stands for a reply that the server did not name: tokens of a prompt of that length.
        question = second.draw()[len(said) - test.second_tokens :]
        await _alone(stage, line, stage.of_tokens(said + question, second.shape, "second-turn"))
    if not control_first:
        await _alone(stage, other, control)


async def _alone(stage: Stage, line: Line, outgoing: Outgoing) -> Sent:
    """Send a request over a new connection while nobody else does, and note what the servers counted of it."""
    names = (PROMPT_TOKENS, QUERIES, HITS)
    before = await stage.scraper.now(names)
    await line.ready(anew=True)
    sent = await line.send(outgoing)
    after = await stage.scraper.now(names)
    if before is not None and after is not None:
        queries, hits = (
            sum(late[name] - early[name] for early, late in zip(before, after, strict=True)) for name in (QUERIES, HITS)
        )
        sent.prefix = Prefix(queries=queries, hits=hits) if queries >= hits >= 0 else None
    attribute(stage, [sent], before, after)
    return sent


async def modes(stage: Stage, test: Modes, cell: Cell, _number: int) -> None:
    """Start equal streams as the cell says."""
    whole = stage.source(test.prompt_tokens, test.output_tokens)
    half = stage.source(test.prompt_tokens, test.output_tokens // 2)
    returning, staggered = cell.value == "returning", cell.value == "staggered"
    waiting = [[stage.outgoing(whole)] for _ in range(test.streams)]
    if returning:
        waiting[0] = [stage.outgoing(half), stage.outgoing(half)]
    lines = await lines_of(stage, test.streams)
    begin_s = stage.clock() + _BEGIN_S

    async def user(number: int) -> None:
        due_s = begin_s + number * test.stagger_s if staggered else None
        for outgoing in waiting[number]:
            await lines[number].send(outgoing, due_s)

    await together([user(number) for number in range(test.streams)])


def attribute(
    stage: Stage, sent: list[Sent], before: list[dict[str, float]] | None, after: list[dict[str, float]] | None
) -> None:
    """Note which replica answered each request: the only way in which their counts of prompt tokens can add up."""
    if not stage.replicas or before is None or after is None:
        return
    counted = [late[PROMPT_TOKENS] - early[PROMPT_TOKENS] for early, late in zip(before, after, strict=True)]
    lengths = [len(one.outgoing.prompt) for one in sent]
    ways = [way for way in _ways(len(lengths), len(counted)) if _totals(lengths, way, len(counted)) == counted]
    if len(ways) == 1:
        for one, replica in zip(sent, ways[0], strict=True):
            one.served_by = stage.scraper.addresses[replica]


def _ways(requests: int, replicas: int) -> list[tuple[int, ...]]:
    ways: list[tuple[int, ...]] = [()]
    for _ in range(requests):
        ways = [(*way, replica) for way in ways for replica in range(replicas)]
    return ways


def _totals(lengths: list[int], way: tuple[int, ...], replicas: int) -> list[float]:
    totals = [0.0] * replicas
    for length, replica in zip(lengths, way, strict=True):
        totals[replica] += length
    return totals
