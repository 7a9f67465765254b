"""One session: from a plan and a place for records to as many finished repeats as the server allows."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from pydantic import JsonValue

from benchmark.endpoint import ASK_TIMEOUT_S, Endpoint
from benchmark.prompt import PromptSource
from benchmark.readiness import gate, wait_ready
from benchmark.store import Store
from experiment.errors import SplitbedError
from experiment.record import Client, Engine, Failure, RepeatRecord, Reply
from experiment.workload import Plan, Test

WARM_UP_TOKENS = 16


class SessionError(SplitbedError):
    """The session cannot go on; what it measured so far is kept."""


@dataclass
class Tally:
    """How far the run is; `measured` and `failed` are of this session, `before` of earlier ones."""

    planned: int = 0
    before: int = 0
    measured: int = 0
    failed: int = 0

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


class Session:
    """Measures what has no record yet; call `run` once."""

    def __init__(
        self,
        plan: Plan,
        endpoint: Endpoint,
        store: Store,
        client: Client,
        topology: dict[str, JsonValue] | None,
        say: Callable[[str], None],
    ) -> None:
        self._plan = plan
        self._topology = topology
        self._endpoint = endpoint
        self._store = store
        self._client = client
        self._say = say
        self.tally = Tally()

    async def run(self) -> None:
        """Wait for the server, then measure, test by test, writing a record after each repeat.

        Raises:
            SplitbedError: it cannot go on; `tally` holds how far it came. Failed repeats alone raise nothing.
        """
        done = self._finished()
        todo = [
            (test, [k for k in range(1, test.repeats + 1) if (test.name, k) not in done]) for test in self._plan.tests
        ]
        self.tally = Tally(planned=sum(test.repeats for test in self._plan.tests), before=len(done))
        if self.tally.complete:
            self._say(f"nothing to measure: {self.tally}")
            return
        plan = self._plan
        self._say(f"run {plan.run}, plan {plan.hash}: {self.tally.before} of {self.tally.planned} repeats are done")
        engine = await wait_ready(self._endpoint, plan.model, plan.ready_timeout_s, plan.request_timeout_s, self._say)
        self._say(f"ready: {describe(engine)}")
        for record in done.values():
            self._same_subject(record, engine)
        for test, repeats in todo:
            if repeats:
                await self._test(test, repeats, engine)
        await self._gate("after the last test")

    def _finished(self) -> dict[tuple[str, int], RepeatRecord]:
        records = {}
        for test in self._plan.tests:
            for repeat in range(1, test.repeats + 1):
                record = self._store.finished(test.name, repeat)
                if record is not None:
                    records[test.name, repeat] = record
        return records

    async def _test(self, test: Test, repeats: list[int], engine: Engine) -> None:
        source = PromptSource(f"{self._plan.seed}/{test.name}", test.prompt_tokens, test.output_tokens)
        warm_up = await self._request(source, min(WARM_UP_TOKENS, test.output_tokens))
        if isinstance(warm_up, Failure):
            raise SessionError(
                f"the warm-up of test {test.name} failed: {warm_up.reason}.", "Look at the engine's log."
            )
        for repeat in repeats:
            started_at = datetime.now(UTC)
            answer = await self._request(source, test.output_tokens)
            record = RepeatRecord(
                run=self._plan.run,
                plan_hash=self._plan.hash,
                test=test.name,
                test_kind=test.kind,
                repeat=repeat,
                started_at=started_at,
                prompt=source.shape,
                topology=self._topology,
                engine=engine,
                client=self._client,
                outcome=answer,
            )
            path = self._store.keep(record)
            heading = f"{test.name} {repeat}/{test.repeats}"
            if isinstance(answer, Reply):
                self.tally.measured += 1
                label = " (simulated)" if engine.simulated else ""
                self._say(f"{heading}: {_figures(answer)}{label} -> {path.name}")
            else:
                self.tally.failed += 1
                self._say(f"{heading}: FAILED, {answer.reason} -> {path.name}")
                await self._gate(f"after the failure of {heading}")

    async def _request(self, source: PromptSource, output_tokens: int) -> Reply | Failure:
        timeout_s = self._plan.request_timeout_s
        try:
            connection = await self._endpoint.open(min(timeout_s, ASK_TIMEOUT_S))
        except OSError as error:
            return Failure(reason=f"no connection: {error or type(error).__name__}", status=None, stamps=None)
        try:
            return await self._endpoint.complete(connection, self._plan.model, source.draw(), output_tokens, timeout_s)
        finally:
            connection.abort()

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
        elif earlier.topology != self._topology:
            was, now = f"topology {earlier.topology}", f"topology {self._topology}"
        else:
            return
        raise SessionError(
            f"finished repeats of this run are of {was}; what answers now is {now}.",
            "Give what answers now a run id of its own.",
        )


def describe(engine: Engine) -> str:
    """Say in a few words what the server is."""
    if engine.simulated:
        profile = (engine.standin or {}).get("profile", "unnamed")
        return f"{engine.model} by the stand-in engine, profile {profile}: all its figures are simulated"
    return f"{engine.model} by vLLM {engine.version}" if engine.version else f"{engine.model}, server version unknown"


def _figures(reply: Reply) -> str:
    figures = reply.figures
    parts = [f"TTFT {figures.ttft_s * 1000:.1f} ms"]
    if figures.tpot_s is not None and figures.longest_gap_s is not None:
        parts.append(f"{figures.tpot_s * 1000:.2f} ms/token, longest gap {figures.longest_gap_s * 1000:.1f} ms")
    parts.append(f"{figures.tokens_per_s:.1f} tokens/s, {reply.tokens.output} tokens")
    return ", ".join(parts)
