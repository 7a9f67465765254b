"""One session: from a plan and a place for records to as many finished repeats as the server allows."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from pydantic import JsonValue

from benchmark.calibration import Calibrator, NullServerCalibrator
from benchmark.endpoint import Endpoint
from benchmark.killer import Killer
from benchmark.peers import Peers
from benchmark.readiness import gate, wait_ready
from benchmark.repeat import Measurer, Subject
from benchmark.scrape import Scraper
from benchmark.selfwatch import SelfWatch
from benchmark.store import Store
from benchmark.telling import describe, told
from benchmark.vocabulary import vocabulary
from benchmark.witness import Nobody, Prover, Witness
from experiment.errors import SplitbedError
from experiment.measure.proof import Proof
from experiment.record import Client, Engine, RepeatRecord
from experiment.workload import Cell, Plan, Test

__all__ = ["RefusedPlanError", "Session", "SessionError", "Surroundings", "Tally"]


class SessionError(SplitbedError):
    """The session cannot go on; what it measured so far is kept."""


class RefusedPlanError(SessionError):
    """This client cannot play the plan, however often it is started; nothing was measured."""


@dataclass
class Tally:
    """How far the run is; `measured` and `failed` are of this session, `before` of earlier ones.

    `doing` is the repeat that is being measured, "" while none is.
    """

    planned: int = 0
    before: int = 0
    measured: int = 0
    failed: int = 0
    doing: str = ""

    @property
    def complete(self) -> bool:
        """Whether every repeat of the plan has its record."""
        return self.before + self.measured == self.planned

    def __str__(self) -> str:
        parts = [f"{self.before + self.measured} of {self.planned} repeats measured"]
        if self.before:
            parts.append(f"{self.before} of them earlier")
        parts.append(f"{self.failed} failed")
        return ", ".join(parts)


@dataclass(frozen=True, kw_only=True)
class Surroundings:
    """What a session is given besides the address under test.

    Attributes:
        topology: as the stack deployed it.
        replicas: addresses of the replicas themselves.
        witness: sees what disturbs a repeat.
        prover: proves that what runs is what was asked for; nothing is proven without it.
        killer: kills pods for the loss test; none may without it.
        peers: see which replica is behind a connection.
        calibrator: measures the client itself.
        watch: watches the client; made by the clock of the address if not given.
    """

    topology: Mapping[str, JsonValue] | None = None
    replicas: Sequence[Endpoint] = ()
    witness: Witness | None = None
    prover: Prover | None = None
    killer: Killer | None = None
    peers: Peers = field(default_factory=Peers)
    calibrator: Calibrator | None = None
    watch: SelfWatch | None = None


class Session:
    """Measures what has no record yet; call `run` once."""

    def __init__(
        self,
        plan: Plan,
        endpoint: Endpoint,
        store: Store,
        client: Client,
        surroundings: Surroundings,
        say: Callable[[str], None],
    ) -> None:
        self._plan = plan
        self._around = surroundings
        self._endpoint = endpoint
        self._store = store
        self._client = client
        self._say = say
        self._warm: set[str] = set()
        self.tally = Tally()
        self.on_progress: Callable[[Tally], None] = lambda _: None

    async def run(self) -> None:
        """Wait for the server, then measure, repeat by repeat, writing a record after each.

        Raises:
            SplitbedError: it cannot go on; `tally` holds how far it came. Failed repeats alone raise nothing.
        """
        repeats = self._plan.repeats
        done = self._finished()
        self.tally = Tally(planned=len(repeats), before=len(done))
        if self.tally.complete:
            self._say(f"nothing to measure: {self.tally}")
            return
        todo = [entry for entry in repeats if (entry[1].name, entry[2]) not in done]
        self.on_progress(self.tally)
        self._playable([test for test, _, _ in todo])
        plan = self._plan
        self._say(f"run {plan.run}, plan {plan.hash}: {self.tally.before} of {self.tally.planned} repeats are done")
        engine = await self._ready()
        self._say(f"ready: {describe(engine)}")
        for record in done.values():
            self._same_subject(record, engine)
        measurer = await self._measurer(engine)
        measurer.proof = await self._proof()
        try:
            for test, cell, number in todo:
                await self._repeat(measurer, test, cell, number)
        finally:
            measurer.close()
            self.tally.doing = ""
        await self._gate("after the last test")

    def _finished(self) -> dict[tuple[str, int], RepeatRecord]:
        records = {}
        for _, cell, number in self._plan.repeats:
            record = self._store.finished(cell.name, number)
            if record is not None:
                records[cell.name, number] = record
        return records

    def _playable(self, tests: Sequence[Test]) -> None:
        for test in tests:
            if test.kind == "loss" and self._around.killer is None:
                raise RefusedPlanError(
                    f"test {test.name} kills a pod, and this client may not.",
                    "Take it out of the plan, or run it by the stack's benchmark Job.",
                )
            if test.kind == "follow-up" and "replica" in test.routes and not self._around.replicas:
                raise RefusedPlanError(
                    f"test {test.name} asks single replicas, and none is known.",
                    "Name them with --replica, or leave the route out.",
                )

    async def _measurer(self, engine: Engine) -> Measurer:
        try:
            words = await vocabulary(self._endpoint, self._plan.model)
        except OSError as error:
            raise SessionError(
                f"{self._endpoint.url}: no connection: {error}.", "Look at the engine, and run again."
            ) from None
        around = self._around
        calibrator = around.calibrator or NullServerCalibrator()
        return Measurer(
            subject=Subject(
                plan=self._plan,
                engine=engine,
                client=self._client,
                topology=None if around.topology is None else dict(around.topology),
                vocabulary=words,
            ),
            endpoint=self._endpoint,
            replicas=around.replicas,
            scraper=Scraper(around.replicas or [self._endpoint], engine.version),
            watch=around.watch or SelfWatch(self._endpoint.clock),
            witness=around.witness or Nobody(),
            killer=around.killer,
            peers=around.peers,
            calibrator=calibrator if self._plan.calibrate else None,
            broken_off=self._keep_partial,
        )

    def _keep_partial(self, record: RepeatRecord) -> None:
        path = self._store.keep(record)
        self._say(f"{record.cell} {record.repeat}: broken off -> {path.name}")

    async def _repeat(self, measurer: Measurer, test: Test, cell: Cell, number: int) -> None:
        heading = self.tally.doing = f"{cell.name} {number}/{cell.repeats}"
        self.on_progress(self.tally)
        await self._warm_up(measurer, test, cell)
        record = await measurer.measure(test, cell, number)
        if record.disturbed:
            path = self._store.keep(record, disturbed=True)
            reasons = "; ".join(record.disturbed)
            self._say(f"{heading}: disturbed, measured once more: {reasons} (disturbed/{path.name})")
            if self._around.prover is not None or record.result == "failed":
                await self._recover(measurer)
                await self._warm_up(measurer, test, cell)
            record = await measurer.measure(test, cell, number)
        path = self._store.keep(record)
        self._say(f"{heading}: {told(record)} -> {path.name}")
        if record.result == "finished":
            self.tally.measured += 1
            self.on_progress(self.tally)
            if test.kind == "loss":
                await self._recover(measurer)
        else:
            self.tally.failed += 1
            self.on_progress(self.tally)
            await self._gate(f"after the failure of {heading}")

    async def _warm_up(self, measurer: Measurer, test: Test, cell: Cell) -> None:
        if cell.name in self._warm or not cell.work:
            return
        failure = await measurer.warm_up(test, cell)
        if failure is not None:
            raise SessionError(
                f"the warm-up of test {cell.name} failed: {failure.reason}.", "Look at the engine's log."
            )
        self._warm.add(cell.name)

    async def _recover(self, measurer: Measurer) -> None:
        """Wait until all is as it was before a pod was lost; what answers then is cold."""
        await self._ready()
        measurer.proof = await self._proof()
        self._warm.clear()

    async def _ready(self) -> Engine:
        plan = self._plan
        return await wait_ready(self._endpoint, plan.model, plan.ready_timeout_s, plan.request_timeout_s, self._say)

    async def _proof(self) -> Proof | None:
        around = self._around
        if around.prover is None:
            return None
        proof = await around.prover.prove(around.replicas or [self._endpoint], self._plan.ready_timeout_s, self._say)
        unproven = f"; not to be seen: {'; '.join(proof.unproven)}" if proof.unproven else ""
        self._say(f"as asked for: {', '.join(proof.proven) or 'nothing that could be looked at'}{unproven}")
        return proof

    async def _gate(self, when: str) -> None:
        failure = await gate(self._endpoint, self._plan.model, self._plan.request_timeout_s)
        if failure is not None:
            raise SessionError(
                f"{when} the engine completed not even one token: {failure.reason}.",
                "Look at the engine's pods: a lost worker leaves /health at 200 while requests hang.",
            )

    def _same_subject(self, earlier: RepeatRecord, engine: Engine) -> None:
        # The address may change between two sessions, what answers there may not: its figures would be pooled.
        if earlier.engine.model_copy(update={"url": engine.url}) != engine:
            was, now = describe(earlier.engine), describe(engine)
        elif earlier.topology != self._around.topology:
            was, now = f"topology {earlier.topology}", f"topology {self._around.topology}"
        else:
            return
        raise SessionError(
            f"finished repeats of this run are of {was}; what answers now is {now}.",
            "Give what answers now a run id of its own.",
        )
