"""The client against a server that computes nothing: the least error that it makes at a number of streams."""

import asyncio
import json
import os
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path
from typing import Protocol

from benchmark.connection import Connection, Exchange
from benchmark.endpoint import Endpoint
from benchmark.nullserver import GAP_S
from benchmark.sse import EventSplitter
from experiment.errors import SplitbedError
from experiment.measure.client import FLOOR_S, Calibration
from experiment.measure.part import Distribution

TOKENS = 50
TRIES = 3
TIMEOUT_S = 60.0
_WITHOUT = "Set the plan's calibrate to false."


class CalibrationError(SplitbedError):
    """The client cannot be measured."""


class Calibrator(Protocol):
    """Tells the client's floor."""

    async def floor(self, streams: int) -> Calibration:
        """Return the errors at so many streams."""


class NullServerCalibrator:
    """Measures each number of streams once, against a server in a process of its own on this machine."""

    def __init__(self) -> None:
        self._known: dict[int, Calibration] = {}

    async def floor(self, streams: int) -> Calibration:
        """See `Calibrator`.

        Raises:
            CalibrationError: the server cannot be started, or an answer was not whole.
        """
        if streams not in self._known:
            self._known[streams] = await least(lambda: _measured(streams))
        return self._known[streams]


async def least(measured: Callable[[], Awaitable[Calibration]]) -> Calibration:
    """Return the try that was least off; one that what else runs here disturbed tells nothing of what the client can.

    It would be held against every repeat at this number of streams, while those tell themselves how late they were.
    """
    found: list[Calibration] = []
    while not found or (_worst(found[-1]) > FLOOR_S and len(found) < TRIES):
        found.append(await measured())
    return min(found, key=_worst).model_copy(update={"tries": len(found)})


def _worst(calibration: Calibration) -> float:
    return max(calibration.ttft_error_s.p99, calibration.gap_error_s.p99)


async def _measured(streams: int) -> Calibration:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "benchmark.nullserver",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(path or str(Path.cwd()) for path in sys.path)},
    )
    try:
        port = (await process.stdout.readline()).decode().strip() if process.stdout else ""
        if not port:
            raise CalibrationError("the server to calibrate against did not start.", _WITHOUT)
        return compare(streams, await _exchanges(Endpoint(f"http://127.0.0.1:{port}", time.monotonic), streams))
    except OSError as error:
        raise CalibrationError(f"no connection to the server to calibrate against: {error}.", _WITHOUT) from error
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()
        if process.stdin is not None:
            process.stdin.close()


async def _exchanges(endpoint: Endpoint, streams: int) -> list[Exchange]:
    request = endpoint.completion("null", [0], TOKENS)
    with ExitStack() as opened:

        async def connect() -> Connection:
            connection = await endpoint.open(TIMEOUT_S)
            opened.callback(connection.abort)  # at once: another one may fail while this one waits
            return connection

        # All are waited for, also when one fails: none may come after the others were closed.
        found = await asyncio.gather(*(connect() for _ in range(streams)), return_exceptions=True)
        failed = [one for one in found if isinstance(one, BaseException)]
        if failed:
            raise failed[0]
        connections = [one for one in found if isinstance(one, Connection)]
        return list(await asyncio.gather(*(connection.exchange(request, TIMEOUT_S) for connection in connections)))


def compare(streams: int, exchanges: list[Exchange]) -> Calibration:
    """Return what the client's stamps differ from the server's by.

    Raises:
        CalibrationError: an answer is not whole.
    """
    firsts: list[float] = []
    gaps: list[float] = []
    for exchange in exchanges:
        chunks = _chunks(exchange)
        if len(chunks) != TOKENS:
            raise CalibrationError(
                f"the server to calibrate against broke off: {exchange.error or len(chunks)}.", "Try again."
            )
        here_s, read_s, written_s = chunks[0]
        firsts.append(max(0.0, (here_s - exchange.sent_s) - (written_s - read_s)))
        gaps += [abs((late[0] - early[0]) - (late[2] - early[2])) for early, late in pairwise(chunks)]
    ttft_error_s, gap_error_s = Distribution.of(firsts), Distribution.of(gaps)
    if ttft_error_s is None or gap_error_s is None:
        raise CalibrationError("nothing was measured.", "Calibrate with one stream or more.")
    return Calibration(streams=streams, tokens=TOKENS, gap_s=GAP_S, ttft_error_s=ttft_error_s, gap_error_s=gap_error_s)


def _chunks(exchange: Exchange) -> list[tuple[float, float, float]]:
    splitter = EventSplitter()
    found = []
    for at_s, piece in exchange.arrivals:
        for event in splitter.feed(piece):
            said = json.loads(event)
            found.append((at_s, said["read_s"], said["written_s"]))
    return found
