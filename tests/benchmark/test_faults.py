"""Faults at random moments, by seed, on a virtual clock: nothing lost, nothing counted twice, nothing hushed up."""

import asyncio
import errno
import os
import random
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from benchmark.session import Session
from experiment.kinds.alone import OneUser
from experiment.kinds.loads import Concurrency
from experiment.kinds.sharing import FollowUp, Interference
from experiment.record import RepeatRecord
from experiment.workload import Plan
from tests.benchmark.cluster.test_surroundings import SHAPE, Rig
from tests.benchmark.lab import Lab, StandIn, in_lab

pytestmark = pytest.mark.thorough

SEEDS = range(4)


def seeded(seed: int) -> random.Random:
    return random.Random(seed)  # noqa: S311  reproducible on purpose; no secret


def plan_of(lab: Lab) -> Plan:
    return lab.plan(
        OneUser(kind="one-user", output_tokens=20, repeats=3),
        Concurrency(kind="concurrency", users=(3,), output_tokens=20, requests=1, repeats=2),
        Interference(kind="interference", stream_tokens=60, after_s=0.1, prompt_tokens=(800,), repeats=2),
        FollowUp(kind="follow-up", history_tokens=400, repeats=2),
    )


def finished(lab: Lab, plan: Plan) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in lab.store(plan).directory.glob("*.json")}


@pytest.mark.parametrize("seed", SEEDS)
def test_a_run_that_is_broken_off_again_and_again_ends_with_each_repeat_once(tmp_path: Path, seed: int) -> None:
    async def main(lab: Lab) -> None:
        dice = seeded(seed)
        endpoint = lab.serve("engine", await lab.engine("fast"))
        plan = plan_of(lab)
        known: dict[str, bytes] = {}
        sessions = 0
        complete = False
        while not complete and sessions < 100:
            sessions += 1
            session = lab.session(plan, endpoint)
            task = asyncio.ensure_future(session.run())
            lab.loop.call_later(dice.uniform(0.1, 2), task.cancel)
            ended = (await asyncio.gather(task, return_exceptions=True))[0]
            assert ended is None or isinstance(ended, asyncio.CancelledError)
            now = finished(lab, plan)
            assert known.items() <= now.items(), "what was finished stays as it is"
            known = now
            complete = session.tally.complete
        assert len(known) == len(plan.repeats) == 9
        assert sessions > 1
        assert all(record.result == "finished" for record in lab.records())
        partial = lab.records("partial/*.json")
        assert all(record.result == "partial" and record.why for record in partial)
        ids = [request.id for record in lab.records() + partial for request in record.requests]
        assert len(ids) == len(set(ids)), "no request is in two records"

    in_lab(tmp_path, main)


class _Restarts:
    """An engine that is started anew at a moment, as its counters tell it: all of them begin at zero."""

    def __init__(self, lab: Lab, engine: StandIn, at_s: float, started: float = 4e9) -> None:
        self.at_s = at_s
        text = engine.observations.text

        def told() -> str:
            if lab.loop.time() < self.at_s:
                return text()
            return re.sub(r"(?m)^process_start_time_seconds .*$", f"process_start_time_seconds {started}", text())

        engine.observations.text = told  # type: ignore[method-assign]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_restart_in_a_repeat_is_never_reported_undisturbed(tmp_path: Path, seed: int) -> None:
    async def main(lab: Lab) -> None:
        engine = await lab.engine("fast")
        endpoint = lab.serve("engine", engine)
        restarts = _Restarts(lab, engine, lab.loop.time() + seeded(seed).uniform(0, 5))
        plan = plan_of(lab)
        await lab.session(plan, endpoint).run()
        everything = lab.records() + lab.records("disturbed/*.json")
        assert len(lab.records()) == 9
        for record in everything:
            (server,) = record.counters.servers
            straddles = server.before.answered_s < restarts.at_s <= server.after.asked_s
            assert bool(record.disturbed) is straddles, record.cell
        assert not any(record.disturbed for record in lab.records()), "a disturbed one was measured once more"

    in_lab(tmp_path, main)


@pytest.mark.parametrize("seed", SEEDS)
def test_an_engine_that_dies_is_no_success_and_loses_nothing(tmp_path: Path, seed: int) -> None:
    async def main(lab: Lab) -> None:
        first, second = await lab.engine("fast"), await lab.engine("fast")
        endpoint = lab.serve("engine", first)
        plan = plan_of(lab)
        lab.loop.call_later(seeded(seed).uniform(0.1, 3), first.server.engine.die)
        session = lab.session(plan, endpoint)
        ended = (await asyncio.gather(session.run(), return_exceptions=True))[0]
        assert "completed not even one token" in str(ended) or "warm-up" in str(ended) or "not ready" in str(ended)
        known = finished(lab, plan)
        assert len(known) == session.tally.measured < 9
        failed = lab.records("failed/*.json")
        assert all(record.result == "failed" and record.why for record in failed)
        lab.serve("engine", second)
        again = lab.session(plan, endpoint)
        await again.run()
        assert again.tally.complete
        assert known.items() <= finished(lab, plan).items()
        assert len(finished(lab, plan)) == 9

    in_lab(tmp_path, main)


class _KilledError(BaseException):
    """Nothing that the client has a handler for."""


class _Disk:
    """What becomes of the store's writes: each is refused while the disk is full, and the client dies in one."""

    def __init__(self, lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
        self.lab = lab
        self.full: tuple[float, float] | None = None
        self.deadly_s: float | None = None
        self._sync = os.fsync
        monkeypatch.setattr("benchmark.store.os.fsync", self.fsync)

    def fsync(self, descriptor: int) -> None:
        now = self.lab.loop.time()
        if self.deadly_s is not None and now >= self.deadly_s:
            self.deadly_s = None
            raise _KilledError
        if self.full is not None and self.full[0] <= now < self.full[1]:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self._sync(descriptor)


@dataclass
class _Troubles:
    """Faults of every kind, and when those were that disturb what is measured."""

    lab: Lab
    rig: Rig
    disk: _Disk
    dice: random.Random
    disturbed_s: list[float] = field(default_factory=list)

    @property
    def kinds(self) -> list[Callable[[], None]]:
        found = [self.evict, self.evict, self.restart, self.restart, self.fill, self.fill, self.kill, self.kill]
        self.dice.shuffle(found)
        return found

    def _soon(self) -> float:
        return self.dice.uniform(0.2, 2.5)

    def evict(self) -> None:
        def strike() -> None:
            if "exp-lab-0" not in self.rig.kubernetes.pods:
                return  # the one before is not back yet
            self.disturbed_s.append(self.lab.loop.time())
            self.rig.kubernetes.event("Pod", "exp-lab-0", "Evicted")
            self.rig.lose(self.dice.uniform(0.1, 30))

        self.lab.loop.call_later(self._soon(), strike)

    def restart(self) -> None:
        """The engine's process is started anew within its container, and its counters tell so."""

        def strike() -> None:
            if "exp-lab-0" not in self.rig.kubernetes.pods:
                return
            self.disturbed_s.append(self.lab.loop.time())
            _Restarts(self.lab, self.rig.engine, self.lab.loop.time(), started=4e9 + 60 * len(self.disturbed_s))

        self.lab.loop.call_later(self._soon(), strike)

    def fill(self) -> None:
        begin_s = self.lab.loop.time() + self._soon()
        self.disk.full = (begin_s, begin_s + self.dice.uniform(0.1, 3))

    def kill(self) -> None:
        self.disk.deadly_s = self.lab.loop.time() + self._soon()


def _spans(record: RepeatRecord) -> tuple[float, float]:
    """Return the time in which a disturbance is one of this repeat: between its looks, or else its requests' stamps."""
    if record.counters.servers:
        return record.counters.servers[0].before.answered_s, record.counters.servers[-1].after.asked_s
    stamps = [one.outcome.stamps for one in record.requests if one.outcome.stamps is not None]
    ends = [max([one.sent_s, *one.chunks_s, one.end_s or 0.0]) for one in stamps]
    return min((one.sent_s for one in stamps), default=0.0), max(ends, default=0.0)


@contextmanager
def _session(lab: Lab, rig: Rig, plan: Plan) -> Iterator[Session]:
    around = rig.surroundings(SHAPE)
    given = {name: getattr(around, name) for name in ("witness", "prover", "peers")}
    store = lab.store(plan)
    store.prepare()
    store.tidy()  # as a run does once it has the lock
    yield lab.session(plan, rig.endpoint, **given)


@pytest.mark.parametrize("seed", range(5))
def test_whatever_happens_each_repeat_is_there_once_and_says_what_disturbed_it(
    tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def main(lab: Lab) -> None:
        rig = await Rig.made(lab, tmp_path, SHAPE)
        rig.heirs += [await lab.engine("fast") for _ in range(4)]
        dice = seeded(seed)
        troubles = _Troubles(lab, rig, _Disk(lab, monkeypatch), dice)
        plan = lab.plan(
            OneUser(kind="one-user", output_tokens=60, repeats=24),
            Concurrency(kind="concurrency", users=(3,), output_tokens=40, requests=1, repeats=12),
        )
        known: dict[str, bytes] = {}
        endings: list[object] = []
        struck = troubles.kinds
        complete = False
        while not complete and len(endings) < 60:
            with _session(lab, rig, plan) as session:
                if struck:
                    struck.pop()()
                task = asyncio.ensure_future(session.run())
                if struck:  # SIGTERM, which leaves something to do for the next fault
                    lab.loop.call_later(dice.uniform(1, 6), task.cancel)
                endings += await asyncio.gather(task, return_exceptions=True)
            now = finished(lab, plan)
            assert known.items() <= now.items(), "what was finished stays as it is"
            known, complete = now, session.tally.complete
        assert complete, endings
        assert not struck
        assert len(known) == len(plan.repeats) == 36

        asides = [record for aside in ("failed", "partial", "disturbed") for record in lab.records(f"{aside}/*.json")]
        everything = lab.records() + asides
        ids = [request.id for record in everything for request in record.requests]
        assert len(ids) == len(set(ids)), "no request is in two records"
        assert all(record.why for record in asides if record.result != "finished")
        assert troubles.disturbed_s
        for record in everything:
            begin_s, end_s = _spans(record)
            hit = [at for at in troubles.disturbed_s if begin_s < at < end_s]
            if hit and record.result != "partial":
                assert record.disturbed, f"{record.cell} {record.repeat}: {hit} within {begin_s} and {end_s}"

    in_lab(tmp_path / "results", main)
