"""Asks again what was not answered, ever more rarely, and gives up when nothing has moved for a while."""

import time
from collections.abc import Callable
from typing import TypeVar

from components.pod.weights import web
from components.pod.weights.refusal import RefusedError

LIMIT_S = 300.0
"""Without progress for so long, it is given up."""

_FIRST_S, _LONGEST_S = 1.0, 30.0

T = TypeVar("T")


def patiently(what: str, ask: Callable[[], T], moved: Callable[[], int] = lambda: 0) -> T:
    """Return what `ask` returns, asking again as long as it is worth it.

    Args:
        what: it is about, for what is printed.
        ask: is called until it raises no UnreachableError.
        moved: a count that grows with whatever progress is made.

    Raises:
        RefusedError: there was no progress in `LIMIT_S` seconds.
    """
    since_s, last, wait_s = time.monotonic(), moved(), _FIRST_S
    while True:
        try:
            return ask()
        except web.UnreachableError as error:
            now_s = time.monotonic()
            if moved() != last:
                since_s, last, wait_s = now_s, moved(), _FIRST_S
            if now_s - since_s >= LIMIT_S:
                raise RefusedError(
                    f"{what} cannot be had, because {error}, and nothing has come for {LIMIT_S:.0f} s: check the way "
                    "from this node to there; what has come is kept, and the next try goes on from it"
                ) from None
            pause_s = min(max(wait_s, error.wait_s), max(LIMIT_S - (now_s - since_s), _FIRST_S))
            print(f"{what}: {error}; another try in {pause_s:.0f} s", flush=True)
            time.sleep(pause_s)
            wait_s = min(2 * wait_s, _LONGEST_S)
