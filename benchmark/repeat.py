"""One repeat of one cell, from its first look at the servers to its record."""

import asyncio
import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime

from pydantic import JsonValue

from benchmark.calibration import Calibrator
from benchmark.endpoint import Endpoint
from benchmark.killer import Killer, KillError
from benchmark.peers import Peers
from benchmark.prompt import digest
from benchmark.runners.table import play
from benchmark.scrape import Scraper
from benchmark.selfwatch import SelfWatch
from benchmark.stage import Stage
from benchmark.vocabulary import Vocabulary
from benchmark.witness import Witness, by_counters
from experiment.measure.client import Calibration, Verdict, judge
from experiment.measure.counters import Counters
from experiment.measure.figures import TestFigures, figures_of
from experiment.measure.pods import Pods
from experiment.measure.proof import Proof
from experiment.measure.request import Failure, PromptShape, Request
from experiment.record import Client, Engine, RepeatRecord, Result
from experiment.workload import Cell, Plan, Test

WARM_UP_TOKENS = 16


@dataclass(frozen=True, kw_only=True)
class Subject:
    """What every record of a session shares."""

    plan: Plan
    engine: Engine
    client: Client
    topology: dict[str, JsonValue] | None
    vocabulary: Vocabulary


@dataclass(kw_only=True)
class Measurer:
    """Measures repeats; `broken_off` takes what is there of one that was cancelled, `proof` is of what runs now."""

    subject: Subject
    endpoint: Endpoint
    replicas: Sequence[Endpoint]
    scraper: Scraper
    watch: SelfWatch
    witness: Witness
    killer: Killer | None
    peers: Peers
    calibrator: Calibrator | None
    broken_off: Callable[[RepeatRecord], None]
    proof: Proof | None = None

    def close(self) -> None:
        """Close the connections that are kept between repeats."""
        self.scraper.close()

    async def warm_up(self, test: Test, cell: Cell) -> Failure | None:
        """Send one request of the cell's first kind, with a short reply, and forget it; return what went wrong."""
        stage, work = self._stage(test), cell.work[0]
        tokens = min(WARM_UP_TOKENS, work.output_tokens)
        try:
            sent = await stage.line(0).send(stage.outgoing(stage.source(work.prompt_tokens, tokens)))
        finally:
            stage.close()
        outcome = sent.read().outcome
        return outcome if isinstance(outcome, Failure) else None

    async def measure(self, test: Test, cell: Cell, number: int) -> RepeatRecord:
        """Measure a repeat, whatever becomes of its requests.

        Raises:
            SplitbedError: a server lacks a counter, or the client cannot be measured.
        """
        floor = await self.calibrator.floor(cell.streams) if self.calibrator and cell.streams else None
        stage = self._stage(test)
        draft = _Draft(test, cell, number, datetime.now(UTC))
        await self.witness.before()
        await self.scraper.begin()
        try:
            with _no_collection():
                self.watch.begin(lambda: stage.streaming > 0)
                async with self.scraper.watching(), self.peers.watching(stage):
                    await play(stage, test, cell, number)
        except OSError as error:
            draft.trouble = f"no connection: {error or type(error).__name__}"
        except KillError as error:
            draft.trouble = error.message
        except asyncio.CancelledError:
            if stage.sent:
                self._finish(draft, stage, floor)
                draft.result, draft.why = "partial", "the session ended"
                self.broken_off(self._record(draft))
            raise
        self._finish(draft, stage, floor)
        await self.scraper.end()
        testimony = await self.witness.after()
        draft.counters, draft.pods = self.scraper.counters(), testimony.pods
        draft.figures = _figures(draft, stage)
        told = by_counters(draft.counters, draft.requests)
        if test.kind != "loss":  # which disturbs itself
            draft.disturbed = testimony.disturbed + told.disturbed
        draft.unwatched = testimony.unwatched + told.unwatched
        return self._record(draft)

    def _finish(self, draft: "_Draft", stage: Stage, floor: Calibration | None) -> None:
        """Read what came, and judge."""
        late_s = [sent.late_s for sent in stage.sent if sent.late_s is not None]
        use = self.watch.end(late_s, (late for sent in stage.sent for late in sent.read_late_s))
        for sent in stage.sent:
            sent.seen(stage)
        draft.requests = tuple(sent.read() for sent in stage.sent)
        draft.killed = stage.killed.pod if stage.killed else None
        draft.figures = _figures(draft, stage)
        load = draft.figures.load
        if load is not None:
            draft.verdict = judge(use.having_read(draft.requests), floor, load.ttft_s, load.gaps_s)
        draft.result, draft.why = _result(draft, self.subject.plan.tolerated)

    def _stage(self, test: Test) -> Stage:
        subject = self.subject
        return Stage(
            endpoint=self.endpoint,
            replicas=self.replicas,
            model=subject.plan.model,
            ids=subject.vocabulary.ids,
            seed=f"{subject.plan.seed}/{test.name}",
            clock=self.endpoint.clock,
            timeout_s=subject.plan.request_timeout_s,
            scraper=self.scraper,
            killer=self.killer,
        )

    def _record(self, draft: "_Draft") -> RepeatRecord:
        subject = self.subject
        return RepeatRecord(
            run=subject.plan.run,
            plan_hash=subject.plan.hash,
            test=draft.test.name,
            test_kind=draft.test.kind,
            cell=draft.cell.name,
            value=draft.cell.value,
            repeat=draft.number,
            result=draft.result,
            why=draft.why,
            started_at=draft.started_at,
            prompt=self._shape(draft.test, draft.cell),
            prompt_ids=subject.vocabulary.source,
            topology=subject.topology,
            engine=subject.engine,
            client=subject.client,
            requests=draft.requests,
            figures=draft.figures,
            counters=draft.counters,
            pods=draft.pods,
            proof=self.proof,
            killed=draft.killed,
            disturbed=draft.disturbed,
            unwatched=draft.unwatched,
            verdict=draft.verdict,
        )

    def _shape(self, test: Test, cell: Cell) -> PromptShape:
        """Return the longest prompt's shape; its hash is of all that the cell sends, whatever other cells do."""
        stage = self._stage(test)
        shapes = [stage.source(work.prompt_tokens, work.output_tokens).shape for work in cell.work]
        if not shapes:
            return PromptShape(prompt_tokens=0, nonce_tokens=0, output_tokens=0, shape_hash=digest(cell.lasts_s))
        longest = max(shapes, key=lambda shape: shape.prompt_tokens)
        if cell.streams == 1 and len(shapes) == 1:
            return longest
        others = {name for name, value in test if isinstance(value, tuple) and name != "mix"}
        content = {
            "shapes": [shape.shape_hash for shape in shapes],
            "value": cell.value,
            "test": test.model_dump(mode="json", exclude={"name", "repeats", *others}),
        }
        return longest.model_copy(update={"shape_hash": digest(content)})


@dataclass
class _Draft:
    """A record in the making."""

    test: Test
    cell: Cell
    number: int
    started_at: datetime
    trouble: str = ""
    result: Result = "failed"
    why: str = ""
    requests: tuple[Request, ...] = ()
    figures: TestFigures = field(default_factory=TestFigures)
    counters: Counters = field(default_factory=lambda: Counters(unknown="the repeat was broken off"))
    pods: Pods = field(default_factory=lambda: Pods(unknown="the repeat was broken off"))
    killed: str | None = None
    disturbed: tuple[str, ...] = ()
    unwatched: tuple[str, ...] = ()
    verdict: Verdict | None = None


def _figures(draft: _Draft, stage: Stage) -> TestFigures:
    killed_s = stage.killed.at_s if stage.killed else None
    return figures_of(draft.test, draft.requests, draft.counters, killed_s, draft.pods)


def _result(draft: _Draft, tolerated: float) -> tuple[Result, str]:
    """Say whether enough requests ended well, and if not, why."""
    requests, failed = draft.requests, [one for one in draft.requests if isinstance(one.outcome, Failure)]
    if draft.trouble:
        return "failed", draft.trouble
    if not draft.cell.work or draft.test.kind == "loss":
        return "finished", ""
    if len(failed) == len(requests) or len(failed) > tolerated * len(requests):
        first = next((one.outcome.reason for one in failed if isinstance(one.outcome, Failure)), "nothing was sent")
        return "failed", first if len(requests) == 1 else f"{len(failed)} of {len(requests)} requests failed: {first}"
    return "finished", ""


@contextmanager
def _no_collection() -> Iterator[None]:
    """Keep the collector from stopping the client in the middle of a repeat."""
    was = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()
