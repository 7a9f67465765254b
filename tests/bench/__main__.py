"""`make bench`: the client on the wall clock against the stand-in engine, whose own stamps are the truth.

Prints, and asserts nothing: what comes out depends on the machine and on what else it does. Both sides run here, so the
engine's lag is the machine's too, and only what the client adds to the engine's stamps is counted.
"""

import asyncio
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmark.endpoint import Endpoint
from benchmark.session import Session, Surroundings
from benchmark.store import Store
from experiment.kinds.loads import Concurrency
from experiment.measure.part import Distribution
from experiment.record import Client, RepeatRecord
from experiment.workload import Plan

MODEL = "google/gemma-3-1b-it"
STREAMS = (1, 8, 64)
TOKENS = 200
PARAMETERS = {"step_s": 0.02, "sequence_s": 0, "prefill_token_s": 0, "frontend_s": 0, "schedule_s": 0, "jitter": 0}


@contextmanager
def engine(stamps: Path) -> Iterator[str]:
    """Start the stand-in engine in a process of its own and yield its address."""
    environ = os.environ | {
        "SPLITBED_STANDIN_STAMPS": str(stamps),
        "SPLITBED_STANDIN_PARAMETERS": json.dumps(PARAMETERS | {"end_of_text": 0}),
    }
    port = 18_000 + os.getpid() % 1000
    command = [sys.executable, "-m", "rehearsal.engine", "serve", MODEL, "--max-model-len=4096", f"--port={port}"]
    with subprocess.Popen([*command, "--host=127.0.0.1"], env=environ, stdout=subprocess.DEVNULL) as process:
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()


async def measured(url: str, directory: Path) -> Plan:
    """Run the plan, and return it."""
    tests = tuple(
        Concurrency(
            kind="concurrency", name=f"at-{streams}", users=(streams,), output_tokens=TOKENS, requests=1, repeats=1
        )
        for streams in STREAMS
    )
    plan = Plan(
        run="bench", model=MODEL, seed=0, tests=tests, order="listed", request_timeout_s=120, ready_timeout_s=60
    )
    store = Store(directory, plan.run, plan.hash)
    store.prepare()
    client = Client(pod=None, node=None, host="here")
    await Session(plan, Endpoint(url, time.monotonic), store, client, Surroundings(), lambda _: None).run()
    return plan


def truths(path: Path) -> dict[str, list[tuple[str, float, int]]]:
    """Return the engine's events by the name of the request."""
    found: dict[str, list[tuple[str, float, int]]] = defaultdict(list)
    for line in path.read_text().splitlines():
        entry: dict[str, Any] = json.loads(line)
        name = str(entry["request"]).removeprefix("cmpl-")
        found[name].append((entry["event"], (entry.get("arrived_ns") or entry["ns"]) / 1e9, entry.get("tokens") or 0))
    return found


def errors(record: RepeatRecord, engines: dict[str, list[tuple[str, float, int]]]) -> tuple[list[float], list[float]]:
    """Return how far first tokens and gaps are from the engine's, in seconds."""
    firsts, gaps = [], []
    for request, reply in zip(record.requests, record.replies, strict=True):
        events = engines[request.id]
        read_s = next(at for event, at, _ in events if event == "read")
        writes = [at for event, at, tokens in events if event == "write" and tokens]
        firsts.append(reply.figures.ttft_s - (writes[0] - read_s))
        true = [later - earlier for earlier, later in pairwise(writes)]
        gaps += [abs(mine - its) for mine, its in zip(reply.figures.gaps_s, true, strict=True)]
    return firsts, gaps


def main() -> None:
    """Measure, and print how far the client is from the truth."""
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        with engine(directory / "stamps.jsonl") as url:
            plan = asyncio.run(measured(url, directory))
        engines = truths(directory / "stamps.jsonl")
        store = Store(directory, plan.run, plan.hash)
        table = Table(title="The client against the stand-in engine's own stamps; times in ms, simulated engine")
        heads = ("streams", "TTFT off, mean", "p99", "gap off, mean", "p99", "client CPU, us a token", "client-limited")
        for head in heads:
            table.add_column(head)
        for _, cell, number in plan.repeats:
            record = store.finished(cell.name, number)
            if record is None or record.verdict is None:
                table.add_row(cell.name, "failed")
                continue
            firsts, gaps = (Distribution.of(values) for values in errors(record, engines))
            if firsts is None or gaps is None:
                continue
            tokens = sum(reply.tokens.output for reply in record.replies)
            figures = [f"{value * 1000:.2f}" for value in (firsts.mean, firsts.p99, gaps.mean, gaps.p99)]
            cpu = f"{record.verdict.use.cpu_s / tokens * 1e6:.0f}"
            table.add_row(str(cell.value), *figures, cpu, "yes" if record.verdict.client_limited else "no")
        Console().print(table)
        used = resource.getrusage(resource.RUSAGE_SELF)
        Console().print(f"client process: {used.ru_utime + used.ru_stime:.1f} s of CPU in all, calibrations included")


if __name__ == "__main__":
    main()
