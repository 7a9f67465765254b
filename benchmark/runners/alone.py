"""One request at a time, or none."""

import asyncio

from benchmark.stage import Stage
from experiment.kinds.alone import Idle
from experiment.kinds.base import Cell, Kind


async def idle(_stage: Stage, test: Idle, _cell: Cell, _number: int) -> None:
    """Ask nothing."""
    await asyncio.sleep(test.seconds)


async def one_request(stage: Stage, _test: Kind, cell: Cell, _number: int) -> None:
    """Send the one request of the cell."""
    (work,) = cell.work
    outgoing = stage.outgoing(stage.source(work.prompt_tokens, work.output_tokens))
    line = stage.line(0)
    await line.ready()
    await line.send(outgoing)
