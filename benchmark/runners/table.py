"""Which runner plays which kind of test."""

from collections.abc import Awaitable, Callable
from typing import Any

from benchmark.runners import alone, loads, sharing
from benchmark.stage import Stage
from experiment.errors import SplitbedError
from experiment.kinds.base import Cell
from experiment.workload import Test

_RUNNERS: dict[str, Callable[[Stage, Any, Cell, int], Awaitable[None]]] = {
    "idle": alone.idle,
    "one-user": alone.one_request,
    "prompt-length": alone.one_request,
    "concurrency": loads.concurrency,
    "open-loop": loads.open_loop,
    "profiles": loads.profiles,
    "soak": loads.soak,
    "loss": loads.loss,
    "interference": sharing.interference,
    "follow-up": sharing.follow_up,
    "modes": sharing.modes,
}


async def play(stage: Stage, test: Test, cell: Cell, number: int) -> None:
    """Play one repeat of a cell to its end.

    Raises:
        OSError: a connection that is to be open beforehand cannot be had.
        SplitbedError: nobody was killed where somebody was to be.
    """
    try:
        await _RUNNERS[test.kind](stage, test, cell, number)
    except* (OSError, SplitbedError) as group:
        raise _first(group) from None
    finally:
        stage.close()


def _first(group: BaseExceptionGroup[OSError | SplitbedError]) -> OSError | SplitbedError:
    for error in group.exceptions:
        return _first(error) if isinstance(error, BaseExceptionGroup) else error
    raise RuntimeError("an exception group is never empty")
