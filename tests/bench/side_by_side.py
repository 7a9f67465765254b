"""`make bench-peers`: our client and its peers at the same load against the same stand-in engine, in one run.

Clients take turns at each load, in the opposite order every other round, so that whatever else the machine does hits
all alike; each has an engine of its own, started anew. Every measurement is a line of a file, and what is there is not
run again, so that a run may be interrupted, and be told at any time with `--tell`. Prints, and asserts nothing.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict
from rich.console import Console
from rich.table import Table

from experiment.measure.part import Distribution
from rehearsal.home import home
from rehearsal.progress import ConsoleProgress
from rehearsal.vllm.environment import ensure_environment
from rehearsal.vllm.model import ensure_model
from tests.bench.clients import Aiperf, Client, Guidellm, Load, Ours, Seen, VllmBench
from tests.bench.engine import Engine, Truth, truths
from tests.bench.environments import ensure

SHORT = Load(64, 2, 20)
"""Subtracted from the load of as many streams it leaves the CPU time of the tokens alone: start and end are in both."""
LOADS = (
    Load(64, 2, 400),
    SHORT,
    Load(8, 2, 100),
    Load(256, 1, 100),
    Load(1, 4, 100),
    Load(128, 1, 100),
    Load(512, 1, 100),
)
"""What tells most comes first, for who stops it early."""
FIGURES = (("ttft", "mean"), ("ttft", "p99"), ("itl", "mean"), ("gap", "p99"))
ALLOWED_S = 0.005
PATIENCE_S = 300


class Measurement(BaseModel):
    """One client at one load; distributions are of absolute errors in seconds."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    round: int
    client: str
    streams: int
    requests: int
    tokens: int
    load_average: float
    cpu_s: float | None = None
    answered: int = 0
    ttft: Distribution | None = None
    ttft_read: Distribution | None = None  # truth then begins when the engine came to read the request
    itl: Distribution | None = None
    gap: Distribution | None = None
    failure: str | None = None

    @property
    def key(self) -> tuple[int, str, int, int]:
        """What is not measured twice."""
        return self.round, self.client, self.streams, self.tokens


def measured(client: Client, load: Load, number: int) -> Measurement:
    """Run a client once against an engine of its own."""
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        about: dict[str, Any] = {"round": number, "client": client.name} | vars(load)
        about["load_average"] = os.getloadavg()[0]
        with Engine(directory / "stamps.jsonl") as engine, (directory / "log").open("wb") as log:
            command = client.command(engine.url, load, directory)
            argv = [sys.executable, "-m", "tests.bench.cost", str(directory / "cpu.json"), *command]
            try:
                environ = os.environ | client.environ
                subprocess.run(argv, env=environ, stdout=log, stderr=log, check=True, timeout=PATIENCE_S)
            except subprocess.SubprocessError as error:
                told = (directory / "log").read_text(errors="replace").strip().splitlines()[-1:]
                return Measurement(**about, failure=f"{type(error).__name__}: {' '.join(told)[:200]}")
        cpu_s = json.loads((directory / "cpu.json").read_text())
        seen = client.results(load, directory)
        return Measurement(**about, cpu_s=cpu_s, **compared(seen, truths(engine.stamps)))


def compared(seen: dict[str, Seen], true: dict[str, Truth]) -> dict[str, Any]:
    """Return how far a client is off what the engine stamped."""
    pairs = [(one, true[name]) for name, one in seen.items() if name in true and len(true[name].writes) > 1]
    gaps = [
        abs(mine - its)
        for one, truth in pairs
        if one.gaps_s is not None and len(one.gaps_s) == len(truth.gaps_s)
        for mine, its in zip(one.gaps_s, truth.gaps_s, strict=True)
    ]
    return {
        "answered": len(pairs),
        "ttft": Distribution.of(abs(one.ttft_s - truth.ttft_s) for one, truth in pairs),
        "ttft_read": Distribution.of(
            abs(one.ttft_s - (truth.ttft_s + truth.arrived_s - truth.read_s)) for one, truth in pairs
        ),
        "itl": Distribution.of(abs(one.itl_s - statistics.fmean(truth.gaps_s)) for one, truth in pairs),
        "gap": Distribution.of(gaps),
    }


def run(clients: Sequence[Client], loads: Sequence[Load], rounds: int, file: Path, say: Callable[[str], None]) -> None:
    """Measure what is not in the file yet."""
    done = {one.key for one in read(file)}
    for number in range(rounds):
        for load in loads:
            for client in clients if number % 2 == 0 else reversed(clients):
                if (number, client.name, load.streams, load.tokens) in done:
                    continue
                found = measured(client, load, number)
                with file.open("a") as out:
                    out.write(found.model_dump_json() + "\n")
                off = f"TTFT {_ms(found.ttft, 'mean')} ms off" if found.ttft else found.failure or "nothing answered"
                say(f"round {number + 1}, {load.streams} streams, {load.tokens} tokens, {client.name}: {off}")


def read(file: Path) -> list[Measurement]:
    """Return what was measured so far."""
    if not file.exists():
        return []
    return [Measurement.model_validate_json(line) for line in file.read_text().splitlines()]


def cpu_per_token_s(found: Sequence[Measurement]) -> float | None:
    """Return the CPU time that one more token costs a client: the median of the rounds' differences."""
    costs = []
    for one in found:
        if one.streams != SHORT.streams or one.tokens == SHORT.tokens or one.cpu_s is None:
            continue
        costs += [
            (one.cpu_s - short.cpu_s) / (one.answered * (one.tokens - short.tokens))
            for short in found
            if (short.round, short.streams, short.tokens) == (one.round, one.streams, SHORT.tokens) and short.cpu_s
        ]
    return statistics.median(costs) if costs else None


def cpu_whole_s(found: Sequence[Measurement]) -> float | None:
    """Return the CPU time of a whole run by its tokens, start and end included, at the load with most tokens."""
    whole = [one for one in found if one.streams == SHORT.streams and one.cpu_s is not None and one.answered]
    most = max((one.tokens for one in whole), default=0)
    costs = [one.cpu_s / (one.answered * one.tokens) for one in whole if one.tokens == most and one.cpu_s is not None]
    return statistics.median(costs) if costs else None


def streams_within(found: Sequence[Measurement], allowed_s: float = ALLOWED_S) -> int:
    """Return the highest number of streams up to which mean TTFT and mean ITL are off by no more than that."""
    within = 0
    for streams in sorted({one.streams for one in found}):
        there = [one for one in found if one.streams == streams and one.tokens != SHORT.tokens]
        whole = [one for one in there if one.ttft and one.itl and one.answered == one.streams * one.requests]
        if not whole or len(whole) < len(there):
            break
        off_s = max(
            statistics.median(part.mean for one in whole if (part := getattr(one, what)) is not None)
            for what in ("ttft", "itl")
        )
        if off_s > allowed_s:
            break
        within = streams
    return within


def tell(found: Sequence[Measurement], console: Console) -> None:
    """Print the tables: medians of the rounds, and from the least to the greatest where rounds differ."""
    clients = list(dict.fromkeys(one.client for one in found))
    table = Table(
        title="Off the stand-in engine's own stamps, ms: median of rounds (least to greatest); simulated engine"
    )
    for head in ("streams", "client", "TTFT mean", "TTFT p99", "ITL mean", "gap p99", "rounds", "load"):
        table.add_column(head)
    for streams in sorted({one.streams for one in found}):
        for client in clients:
            there = [one for one in found if (one.streams, one.client) == (streams, client)]
            there = [one for one in there if one.tokens != SHORT.tokens]
            cells = [
                _spread(there, *what) for what in (("ttft", "mean"), ("ttft", "p99"), ("itl", "mean"), ("gap", "p99"))
            ]
            lost = sum(one.failure is not None or one.answered < one.streams * one.requests for one in there)
            loads = [one.load_average for one in there]
            about = f"{len(there)}{f', {lost} not whole' if lost else ''}"
            table.add_row(str(streams), client, *cells, about, f"{min(loads):.0f}-{max(loads):.0f}" if loads else "")
        table.add_section()
    console.print(table)
    summary = Table(title="In short")
    for head in (
        "client",
        "CPU of one more token, us",
        "of the whole run, by its tokens, us",
        f"streams with at most {ALLOWED_S * 1000:g} ms off",
    ):
        summary.add_column(head)
    for client in clients:
        own = [one for one in found if one.client == client]
        costs = (cpu_per_token_s(own), cpu_whole_s(own))
        summary.add_row(
            client, *("" if cost is None else f"{cost * 1e6:.0f}" for cost in costs), str(streams_within(own))
        )
    console.print(summary)


def _spread(found: Sequence[Measurement], part: str, figure: str) -> str:
    values = [getattr(one, part) for one in found]
    known = sorted(getattr(value, figure) * 1000 for value in values if value is not None)
    if not known:
        return "-"
    middle = f"{statistics.median(known):.2f}"
    return middle if len(known) == 1 else f"{middle} ({known[0]:.2f}-{known[-1]:.2f})"


def _ms(distribution: Distribution | None, figure: str) -> str:
    return "-" if distribution is None else f"{getattr(distribution, figure) * 1000:.2f}"


def main() -> None:
    """Measure and tell."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--streams", type=int, nargs="*", help="these numbers of streams only")
    parser.add_argument("--only", nargs="*", help="clients whose name begins so")
    parser.add_argument("--file", type=Path, default=Path("results/peers.jsonl"))
    parser.add_argument("--tell", action="store_true", help="print what is in the file, and measure nothing")
    asked = parser.parse_args()
    console = Console(width=150)
    if not asked.tell:
        progress = ConsoleProgress(console)
        tokenizer = ensure_model(home(), progress)
        clients: list[Client] = [
            Ours(),
            VllmBench(ensure_environment(home(), progress).python, tokenizer),
            Guidellm(ensure("guidellm", home(), progress), tokenizer),
            Aiperf(ensure("aiperf", home(), progress), tokenizer),
        ]
        wanted = [client for client in clients if not asked.only or client.name.startswith(tuple(asked.only))]
        loads = [load for load in LOADS if not asked.streams or load.streams in asked.streams]
        asked.file.parent.mkdir(parents=True, exist_ok=True)
        run(wanted, loads, asked.rounds, asked.file, progress.note)
    tell(read(asked.file), console)


if __name__ == "__main__":
    main()
