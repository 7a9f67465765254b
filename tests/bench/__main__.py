"""`make bench`: the client on the wall clock against the stand-in engine, whose own stamps are the truth.

Prints, and asserts nothing: what comes out depends on the machine and on what else it does. On a virtual clock, where
nothing else does anything, tests/benchmark/test_truth.py asserts the same.
"""

import asyncio
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmark.endpoint import Endpoint
from benchmark.killer import Killed
from benchmark.session import Session, Surroundings
from benchmark.store import Store
from experiment.kinds.alone import OneUser
from experiment.kinds.loads import Concurrency, Loss, Victim
from experiment.kinds.sharing import FollowUp, Interference, Modes
from experiment.measure.part import Distribution, percentile
from experiment.record import Client, RepeatRecord, parse_record
from experiment.workload import Plan, Test
from tests.bench.engine import MODEL, Engine, Truth, truths

STREAMS = (1, 8, 64)
TOKENS = 200
EXACT: Mapping[str, float] = {
    "jitter": 0,
    "frontend_spread": 0,
    "end_of_text": 0,
    "download_s": 0,
    "load_s": 0,
    "warm_s": 0,
}
AWAY_S = 5.0


@dataclass(frozen=True)
class Compared:
    """A figure as it was told, and as the engine's stamps have it."""

    name: str
    told: float
    true: float
    unit: str = "s"

    @property
    def row(self) -> tuple[str, str, str, str]:
        """What is printed of it."""
        off = self.told - self.true
        if self.unit != "s":
            return self.name, f"{self.told:g} {self.unit}", f"{self.true:g} {self.unit}", f"{off:+g}"
        share = f" ({abs(off) / self.true:.2%})" if self.true else ""
        return self.name, f"{self.told * 1000:.2f} ms", f"{self.true * 1000:.2f} ms", f"{off * 1000:+.2f} ms{share}"


class Restarter:
    """Kills the engine, and brings it up again some time later at the same address."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._later: asyncio.Task[None] | None = None

    async def kill(self, victim: Victim) -> Killed:
        """See `benchmark.killer.Killer`."""
        killed_s = time.monotonic()
        self._engine.kill()
        self._later = asyncio.ensure_future(self._return())
        return Killed("the engine's process", killed_s)

    async def _return(self) -> None:
        await asyncio.sleep(AWAY_S)
        self._engine.start()


def measured(engine: Engine, directory: Path, *tests: Test, killer: Restarter | None = None) -> list[RepeatRecord]:
    """Run a plan of these tests, and return what was recorded, in the order of measuring."""
    plan = Plan(
        run="bench", model=MODEL, seed=0, tests=tests, order="listed", request_timeout_s=120, ready_timeout_s=60
    )
    store = Store(directory, plan.run, plan.hash)
    store.prepare()
    client = Client(pod=None, node=None, host="here")
    around = Surroundings(killer=killer)
    session = Session(plan, Endpoint(engine.url, time.monotonic), store, client, around, lambda _: None)
    asyncio.run(session.run())
    found = [parse_record(path.read_bytes()) for path in directory.glob("bench/*/*.json")]
    return sorted((one for one in found if isinstance(one, RepeatRecord)), key=lambda record: record.started_at)


def loads(console: Console) -> None:
    """Print errors of first tokens and gaps at each number of streams."""
    tests = [
        Concurrency(
            kind="concurrency", name=f"at-{streams}", users=(streams,), output_tokens=TOKENS, requests=1, repeats=1
        )
        for streams in STREAMS
    ]
    with tempfile.TemporaryDirectory() as place, Engine(Path(place) / "stamps.jsonl") as engine:
        records = measured(engine, Path(place), *tests)
        true = truths(engine.stamps)
    table = Table(title="Off the stand-in engine's own stamps; times in ms, simulated engine")
    heads = ("streams", "TTFT off, mean", "p99", "gap off, mean", "p99", "client CPU, us a token", "client-limited")
    for head in heads:
        table.add_column(head)
    for record in records:
        firsts, gaps = errors(record, true)
        if firsts is None or gaps is None or record.verdict is None:
            table.add_row(record.cell, "failed")
            continue
        tokens = sum(reply.tokens.output for reply in record.replies)
        figures = [f"{value * 1000:.2f}" for value in (firsts.mean, firsts.p99, gaps.mean, gaps.p99)]
        cpu = f"{record.verdict.use.cpu_s / tokens * 1e6:.0f}"
        table.add_row(str(record.value), *figures, cpu, "; ".join(record.verdict.reasons) or "no")
    console.print(table)


def errors(record: RepeatRecord, true: Mapping[str, Truth]) -> tuple[Distribution | None, Distribution | None]:
    """Return how far first tokens and gaps are off, in seconds."""
    pairs = [(reply.figures, true[request.id]) for request, reply in zip(record.requests, record.replies, strict=True)]
    firsts = Distribution.of(abs(figures.ttft_s - truth.ttft_s) for figures, truth in pairs)
    gaps = (abs(mine - its) for figures, truth in pairs for mine, its in zip(figures.gaps_s, truth.gaps_s, strict=True))
    return firsts, Distribution.of(gaps)


def stall(engine: Engine, directory: Path) -> list[Compared]:
    """A long prompt into somebody's stream."""
    (record,) = measured(engine, directory, Interference(kind="interference", repeats=1))
    figures, true = record.figures.interference, truths(engine.stamps)
    stream, long = (true[request.id] for request in record.requests)
    timed = list(zip(stream.gaps_s, stream.writes[1:], strict=True))
    before = sorted(gap for gap, (at, _) in timed if at < long.arrived_s)
    baseline, longest = before[len(before) // 2], max(gap for gap, (at, _) in timed if at > long.arrived_s)
    if figures is None:
        return []
    return [
        Compared("longest gap under a prompt of 3,500 tokens", figures.longest_gap_s, longest),
        Compared("stall", figures.stall_s, longest - baseline),
        Compared("TTFT of that prompt", figures.long_ttft_s, long.ttft_s),
    ]


def follow_up(engine: Engine, directory: Path) -> list[Compared]:
    """A second turn, and its cold control."""
    (record,) = measured(engine, directory, FollowUp(kind="follow-up", repeats=1))
    figures, true = record.figures.follow_up, truths(engine.stamps)
    names = {request.role: request.id for request in record.requests}
    if figures is None or figures.warm_hits is None:
        return []
    turn = FollowUp(kind="follow-up")
    whole_blocks = (turn.history_tokens + turn.reply_tokens - 1) // 16 * 16
    return [
        Compared("TTFT of a second turn", figures.warm_ttft_s, true[names["second-turn"]].ttft_s),
        Compared("TTFT of its cold control", figures.cold_ttft_s, true[names["control"]].ttft_s),
        Compared("prefix hits of it (whole blocks of what was there)", figures.warm_hits, whole_blocks, "tokens"),
    ]


def quota(engine: Engine, directory: Path) -> list[Compared]:
    """Gaps of a throttled engine."""
    test = OneUser(kind="one-user", output_tokens=80, repeats=1)
    (record,) = measured(engine, directory, test)
    (request,), (reply,) = record.requests, record.replies
    told, true = (sorted(gaps) for gaps in (reply.figures.gaps_s, truths(engine.stamps)[request.id].gaps_s))
    return [
        Compared(f"gap under a CPU quota, p{percent}", percentile(told, percent), percentile(true, percent))
        for percent in (50, 99)
    ]


def modes(engine: Engine, directory: Path) -> list[Compared]:
    """Both modes of a split, by the engine's steps."""
    records = measured(engine, directory, Modes(kind="modes", repeats=4))
    true = truths(engine.stamps)
    told: dict[str, int] = {"apart": 0, "merged": 0}
    stepped: dict[str, int] = {"apart": 0, "merged": 0}
    gaps: list[Compared] = []
    for record in records:
        mine = [true[request.id] for request in record.requests]
        steps = len({at for one in mine for _, at in one.writes})
        figures, load = record.figures.steps, record.figures.load
        if figures is not None and figures.mode is not None:
            told[figures.mode] += 1
        tokens = max(len(one.writes) for one in mine)
        mode = "apart" if steps > 1.8 * tokens else "merged" if steps < 1.3 * tokens else None
        if mode is not None:
            stepped[mode] += 1
        if load is not None and load.gaps_s is not None:
            median = percentile(sorted(gap for one in mine for gap in one.gaps_s), 50)
            gaps.append(Compared(f"gap of both streams, {record.cell} {record.repeat}, p50", load.gaps_s.p50, median))
    worst = max(gaps, key=lambda one: abs(one.told - one.true))
    shares = [Compared(f"loads in mode {mode}", told[mode], stepped[mode], f"of {len(records)}") for mode in told]
    return [*shares, worst]


def restart(engine: Engine, directory: Path) -> list[Compared]:
    """The engine is killed under load, and comes back."""
    test = Loss(kind="loss", users=8, after_s=3, seconds=20, output_tokens=20)
    (record,) = measured(engine, directory, test, killer=Restarter(engine))
    outage = record.figures.outage
    if outage is None or outage.silent_s is None:
        return []
    times = sorted(at for one in truths(engine.stamps).values() for at, _ in one.writes)
    silent_s = min(at for at in times if at > outage.killed_s + AWAY_S) - max(
        at for at in times if at <= outage.killed_s
    )
    return [Compared("time without an answer, engine killed at 8 streams", outage.silent_s, silent_s)]


Part = Callable[[Engine, Path], list[Compared]]
PARTS: tuple[tuple[Part, str, tuple[str, ...], Mapping[str, float]], ...] = (
    (stall, "post-1b-single", (), EXACT),
    (follow_up, "post-1b-single", ("--enable-prompt-tokens-details",), EXACT),
    (quota, "trial-quota", ("--pipeline-parallel-size=2",), {**EXACT, "cpu_quota_s": 0.06}),
    (modes, "trial-split", ("--pipeline-parallel-size=2",), {**EXACT, "frontend_spread": 0.5}),
    (restart, "fast", (), EXACT),
)


def figures(console: Console) -> None:
    """Print all other figures beside what the engine stamped."""
    table = Table(title="Figures beside the stand-in engine's own stamps; simulated engine")
    for head in ("figure", "told", "true", "off"):
        table.add_column(head)
    for part, profile, flags, parameters in PARTS:
        with (
            tempfile.TemporaryDirectory() as place,
            Engine(Path(place) / "stamps.jsonl", *flags, profile=profile, parameters=parameters) as engine,
        ):
            found = part(engine, Path(place))
        for one in found or [Compared(f"{part.__name__}: nothing was told", 0, 0)]:
            table.add_row(*one.row)
    console.print(table)


def main() -> None:
    """Measure, and print."""
    console = Console(width=150)
    loads(console)
    figures(console)


if __name__ == "__main__":
    main()
