"""The stand-in engine and the client on one virtual clock: what the client says against what the engine knows."""

import json
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from benchmark.endpoint import Endpoint
from benchmark.selfwatch import Cgroup, SelfWatch
from benchmark.session import Session, Surroundings
from benchmark.store import Store
from experiment.record import RepeatRecord, parse_record
from experiment.workload import Plan, Test
from rehearsal.engine import arguments
from rehearsal.engine.assembly import assemble
from rehearsal.engine.core import Step
from rehearsal.engine.generation import Server
from rehearsal.engine.listener import Runner
from rehearsal.engine.memory import cache_of
from rehearsal.engine.observations import Observations
from rehearsal.engine.ranks import Leader
from rehearsal.engine.server import Api
from rehearsal.engine.settings import settings
from rehearsal.engine.stamps import Stamps
from tests.benchmark.records import CLIENT
from tests.benchmark.virtual import VirtualLoop, run

MODEL = "google/gemma-3-1b-it"
PLAIN = {"jitter": 0, "frontend_spread": 0, "end_of_text": 0}


@dataclass
class Truth:
    """What the engine stamped of one request, in seconds."""

    read_s: float = 0.0
    writes: list[tuple[float, int]] = field(default_factory=list)

    @property
    def ttft_s(self) -> float:
        return self.writes[0][0] - self.read_s

    @property
    def gaps_s(self) -> list[float]:
        return [later - earlier for (earlier, _), (later, _) in pairwise(self.writes)]


class _Stamps(Stamps):
    """Stamps on the virtual clock, kept in memory."""

    def __init__(self, clock: Callable[[], float]) -> None:
        super().__init__(None)
        self._clock = clock
        self.truths: dict[str, Truth] = defaultdict(Truth)

    def note(self, event: str, request: str, size: int = 0, tokens: int = 0, *_: Any, **__: Any) -> None:
        truth = self.truths[request.removeprefix("cmpl-")]
        if event == "read":
            truth.read_s = self._clock()
        elif event == "write" and tokens:
            truth.writes.append((self._clock(), tokens))


class StandIn:
    """One stand-in engine; `steps` are all that came back with a token."""

    def __init__(self, server: Server, observations: Observations, stamps: _Stamps, runner: Runner) -> None:
        self.server = server
        self.observations = observations
        self.truths = stamps.truths
        self.steps: list[Step] = []
        self._runner = runner

    def factory(self) -> Callable[[], Any]:
        assert self._runner.server is not None
        return self._runner.server


@dataclass
class Lab:
    """Engines behind addresses, and sessions against them."""

    loop: VirtualLoop
    results: Path
    stack: AsyncExitStack
    said: list[str] = field(default_factory=list)

    async def engine(self, profile: str, *flags: str, **parameters: Any) -> StandIn:
        """Start an engine; without jitter where it is not asked for."""
        environ = {
            "SPLITBED_STANDIN_PROFILE": profile,
            "SPLITBED_STANDIN_PARAMETERS": json.dumps(PLAIN | parameters),
        }
        found = settings(arguments.parse(["serve", MODEL, "--max-model-len=4096", *flags]), environ)
        server, observations = assemble(found, cache_of(found), Leader(1, 0))
        engine = server.engine
        engine.clock = self.loop.time
        engine.core.now_s = self.loop.time()
        stamps = _Stamps(self.loop.time)
        runner = Runner(Api(server, observations, stamps).application())
        await runner.setup()
        self.stack.push_async_callback(runner.cleanup)
        self.stack.push_async_callback(engine.halt)
        made = StandIn(server, observations, stamps, runner)
        counted = engine._on_step

        def step(one: Step) -> None:
            counted(one)
            if one.outcome.tokens:
                made.steps.append(one)

        engine._on_step = step
        engine.start()
        return made

    def serve(self, host: str, *engines: StandIn) -> Endpoint:
        """Let a host's connections go to engines in turn."""
        turn = 0

        def next_one() -> Callable[[], Any]:
            nonlocal turn
            turn += 1
            return engines[(turn - 1) % len(engines)].factory()

        self.loop.hosts[host] = next_one
        return self.endpoint(host)

    def endpoint(self, host: str) -> Endpoint:
        return Endpoint(f"http://{host}:8000", self.loop.time)

    def plan(self, *tests: Test, **changes: Any) -> Plan:
        fields: dict[str, Any] = {"run": "lab", "model": MODEL, "seed": 3, "calibrate": False}
        times = {"request_timeout_s": 600.0, "ready_timeout_s": 60.0}
        return Plan.model_validate(fields | times | {"tests": tests} | changes)

    def store(self, plan: Plan) -> Store:
        return Store(self.results, plan.run, plan.hash)

    def session(self, plan: Plan, endpoint: Endpoint, **surroundings: Any) -> Session:
        store = self.store(plan)
        store.prepare()
        watch = SelfWatch(self.loop.time, Cgroup(None), lambda: 0.0)
        around = Surroundings(**({"watch": watch} | surroundings))
        return Session(plan, endpoint, store, CLIENT, around, self.said.append)

    async def measure(self, endpoint: Endpoint, *tests: Test, **surroundings: Any) -> list[RepeatRecord]:
        """Run a session to its end and return its finished records, in the order of measuring."""
        plan = self.plan(*tests)
        await self.session(plan, endpoint, **surroundings).run()
        return self.records()

    def records(self, where: str = "*.json") -> list[RepeatRecord]:
        found = [parse_record(path.read_bytes()) for path in sorted(self.results.glob(f"lab/*/{where}"))]
        return sorted(
            (record for record in found if isinstance(record, RepeatRecord)), key=lambda record: record.started_at
        )


def in_lab(results: Path, main: Callable[[Lab], Awaitable[None]]) -> None:
    """Run a test in a lab."""

    async def body(loop: VirtualLoop) -> None:
        async with _lab(loop, results) as lab:
            await main(lab)

    run(body)


@asynccontextmanager
async def _lab(loop: VirtualLoop, results: Path) -> AsyncIterator[Lab]:
    async with AsyncExitStack() as stack:
        yield Lab(loop, results, stack)


def off(measured: float, true: float) -> float:
    """Return by how many of what is allowed (a millisecond, or one in a hundred if that is more) a figure is off."""
    return abs(measured - true) / max(0.001, 0.01 * abs(true))
